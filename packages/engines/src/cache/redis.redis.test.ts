import { cacheContract } from "@tessera/testkit/cache-contract";
import { describeEachRedis } from "@tessera/testkit/each-redis";
import { type RedisServer, startRedis } from "@tessera/testkit/engines/redis-server";
import { connectedCache } from "@tessera/testkit/redis-cache";
import { afterAll, beforeAll, expect, it } from "vitest";

let serial = 0;

describeEachRedis("%s", (flavour) => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ flavour });
  });
  afterAll(() => server.stop());

  cacheContract(flavour, async () => {
    serial += 1;
    const prefix = `test${serial}:`;
    const first = await connectedCache(server.url, { prefix });
    const opened = [first];
    return {
      cache: first.cache,
      async another() {
        const other = await connectedCache(server.url, { prefix });
        opened.push(other);
        return other.cache;
      },
      close: async () => {
        await Promise.all(opened.map(({ cache }) => cache.close()));
      },
    };
  });

  it("keeps deployments apart by their prefix", async () => {
    const [mine, theirs] = [
      await connectedCache(server.url, { prefix: "mine:" }),
      await connectedCache(server.url, { prefix: "theirs:" }),
    ];
    const limits = { name: "a", attempts: 1, windowMs: 60_000 };
    expect((await mine.cache.limiter(limits).take("key")).allowed).toBe(true);
    expect((await theirs.cache.limiter(limits).take("key")).allowed).toBe(true);
    await Promise.all([mine.cache.close(), theirs.cache.close()]);
  });
});
