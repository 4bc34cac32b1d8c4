import { createLog } from "@tessera/kit/telemetry/log";
import { cacheContract } from "@tessera/testkit/cache-contract";
import { memoryCache } from "./memory-cache.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

cacheContract("memory", async () => {
  const cache = memoryCache({ log });
  return { cache, close: () => cache.close() };
});
