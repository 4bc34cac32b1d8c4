import { cacheContract } from "@tessera/testkit/cache-contract";
import { createLog } from "../log.ts";
import { memoryCache } from "./memory.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

cacheContract("memory", async () => {
  const cache = memoryCache({ log });
  return { cache, close: () => cache.close() };
});
