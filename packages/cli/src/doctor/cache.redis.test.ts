import { systemClock } from "@tessera/kit/clock";
import { describeEachRedis } from "@tessera/testkit/each-redis";
import { type RedisServer, startRedis } from "@tessera/testkit/engines/redis-server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lookAround } from "../configuration/surroundings.ts";
import { examineCache } from "./examine-stores.ts";

describeEachRedis("the cache of %s is examined", (flavour) => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ flavour, settings: ["--maxmemory", "50mb"] });
    await server.command("CONFIG", "SET", "requirepass", "o pen/sesame");
  });
  afterAll(() => server.stop());

  async function examine(password: string) {
    const url = new URL(server.url);
    url.password = encodeURIComponent(password);
    const environment = { CACHE: "redis", REDIS_URL: url.href };
    const question = {
      names: ["all"],
      environment,
      data: "/nonexistent",

      health: [],
    };
    const around = await lookAround(question, { clock: systemClock });
    const findings = await examineCache(around);
    return findings.map(({ level, what }) => `${level}: ${what}`);
  }

  it("for what it is, whom it lets in, and whether it is there", async () => {
    const { host } = new URL(server.url);
    const name = flavour === "redis" ? "Redis" : "Valkey";
    expect(await examine("o pen/sesame")).toEqual([
      expect.stringMatching(new RegExp(`^ok: ${name} \\d+\\.\\d+\\.\\d+ at ${host} answers$`)),
      `warning: ${name} refuses writes when its memory is full (maxmemory-policy noeviction)`,
    ]);
    expect(await examine("")).toEqual([`wrong: Redis at ${host} refuses what it is asked (NOAUTH)`]);
    expect(await examine("shut")).toEqual([`wrong: Redis at ${host} refuses what it is asked (WRONGPASS)`]);
    server.pause();
    expect(await examine("o pen/sesame")).toEqual([`warning: Redis at ${host} cannot be used`]);
    server.resume();
    await server.kill();
    expect(await examine("o pen/sesame")).toEqual([`warning: Redis at ${host} cannot be used`]);
  });
});
