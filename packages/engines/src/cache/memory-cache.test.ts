import { cacheContract } from "@tessera/testkit/cache-contract";
import { memoryCache } from "./memory-cache.ts";

cacheContract("memory", async () => {
  const cache = memoryCache();
  return { cache, close: () => cache.close() };
});
