import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Limiter } from "@tessera/kit/cache/cache";
import { createLog } from "@tessera/kit/telemetry/log";
import { describeEachRedis } from "@tessera/testkit/each-redis";
import { type RedisServer, startRedis } from "@tessera/testkit/engines/redis-server";
import { connectedCache, type OpenedCache, watchedCache } from "@tessera/testkit/redis-cache";
import getPort from "get-port";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";

/** The longest wait of a caller: the timeout of one answer, times four on a busy machine. */
const boundMs = 500;

const limits = { name: "test", attempts: 10, windowMs: 60_000 };
const lost = "Redis cannot be used; limits count in each process alone";
const found = "Redis can be used again";

let serial = 0;
const freshKey = () => {
  serial += 1;
  return `key ${serial}`;
};

/** Takes attempts with many callers at once until told to stop; returns how long the slowest one waited. */
function load(limiter: Limiter, callers = 16) {
  let going = true;
  let slowestMs = 0;
  let taken = 0;
  const caller = async () => {
    while (going) {
      const started = performance.now();
      await limiter.take(freshKey());
      slowestMs = Math.max(slowestMs, performance.now() - started);
      taken += 1;
      // An immediate answer would otherwise leave the event loop no turn.
      await sleep(1);
    }
  };
  const working = Array.from({ length: callers }, caller);
  return {
    taken: () => taken,
    async stop() {
      going = false;
      await Promise.all(working);
      return slowestMs;
    },
  };
}

/** Whether the processes count together: what one takes, the other lacks. */
async function countTogether(a: OpenedCache, b: OpenedCache): Promise<boolean> {
  const key = freshKey();
  await a.cache.limiter(limits).take(key);
  return (await b.cache.limiter(limits).take(key)).remaining === 8;
}

describeEachRedis("when %s", (flavour) => {
  let server: RedisServer;
  let a: OpenedCache;
  let b: OpenedCache;
  beforeAll(async () => {
    server = await startRedis({ flavour });
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    server.resume();
    await server.restart();
    [a, b] = await Promise.all([connectedCache(server.url), connectedCache(server.url)]);
  });
  afterEach(async () => {
    await Promise.all([a.cache.close(), b.cache.close()]);
  });

  it("is killed under load, no request waits, limits go on, and all is as before once it is back, empty", async () => {
    const limiter = a.cache.limiter(limits);
    const key = freshKey();
    for (let times = 0; times < 10; times += 1) expect((await limiter.take(key)).allowed).toBe(true);
    const traffic = load(limiter);
    await sleep(200);
    await server.kill();
    await a.becomes("useless");
    const alone = freshKey();
    const answers = [];
    for (let times = 0; times < 12; times += 1) answers.push((await limiter.take(alone)).allowed);
    expect(answers).toEqual([...Array<boolean>(10).fill(true), false, false]);
    // A client that had used up its window before has not got a new one.
    expect((await limiter.take(key)).allowed).toBe(false);
    await sleep(300);
    await server.restart();
    await Promise.all([a.becomes("usable"), b.becomes("usable")]);
    expect(await countTogether(a, b)).toBe(true);
    expect(traffic.taken()).toBeGreaterThan(500);
    expect(await traffic.stop()).toBeLessThan(boundMs);
    // A busy machine may lose the new server once more.
    for (const { lines } of [a, b]) expect([lines[0], lines.at(-1)]).toEqual([lost, found]);
  });

  it("freezes under load, it is soon left alone, and used again once it moves", async () => {
    const limiter = a.cache.limiter(limits);
    const traffic = load(limiter);
    await sleep(200);
    server.pause();
    await a.becomes("useless");
    const started = performance.now();
    for (let times = 0; times < 300; times += 1) await limiter.take(freshKey());
    // Waiting for each would take more than twenty seconds.
    expect(performance.now() - started).toBeLessThan(1000);
    // Long enough for the connection to be given up, and for new ones to be tried.
    await sleep(5000);
    expect(await a.isUsable()).toBe(false);
    expect(await traffic.stop()).toBeLessThan(boundMs);
    server.resume();
    await Promise.all([a.becomes("usable"), b.becomes("usable")]);
    expect(await countTogether(a, b)).toBe(true);
    expect(a.lines).toEqual([lost, found]);
  });

  it("freezes without traffic, that is noticed, so that the first caller does not wait either", async () => {
    server.pause();
    await a.becomes("useless");
    const decided = a.cache.limiter(limits).take(freshKey());
    // Not by the clock, which a busy machine falsifies: a local decision needs no turn of the event loop.
    const first = await Promise.race([decided.then(() => "the decision"), nextTurn("the next turn")]);
    expect(first).toBe("the decision");
    server.resume();
    await Promise.all([a.becomes("usable"), b.becomes("usable")]);
    expect(await countTogether(a, b)).toBe(true);
  });

  it("freezes for a moment only, the connection stays", async () => {
    const before = await server.command("INFO", "stats");
    server.pause();
    await Promise.all([a.becomes("useless"), b.becomes("useless")]);
    await sleep(500);
    server.resume();
    await Promise.all([a.becomes("usable"), b.becomes("usable")]);
    const connections = (info: string) => Number(/total_connections_received:(\d+)/.exec(info)?.[1]);
    // The connections that asked.
    expect(connections(await server.command("INFO", "stats")) - connections(before)).toBe(1);
  });

  it("refuses commands, it is left alone for a while, told once, and used again when it does not", async () => {
    await server.command("CONFIG", "SET", "maxmemory", "1");
    const limiter = a.cache.limiter(limits);
    const key = freshKey();
    const answers = [];
    for (let times = 0; times < 12; times += 1) answers.push((await limiter.take(key)).allowed);
    expect(answers).toEqual([...Array<boolean>(10).fill(true), false, false]);
    expect(await a.isUsable()).toBe(false);
    // It answers pings, so it gets another chance, and fails again.
    await a.becomes("usable");
    for (let times = 0; times < 3; times += 1) await limiter.take(freshKey());
    expect(await a.isUsable()).toBe(false);
    expect(a.lines).toEqual([lost]);
    await server.command("CONFIG", "SET", "maxmemory", "0");
    await a.becomes("usable");
    expect(await countTogether(a, b)).toBe(true);
    expect(a.lines).toEqual([lost, found]);
  });

  it("drops all connections, they come back", async () => {
    await server.command("CLIENT", "KILL", "TYPE", "normal");
    await sleep(200);
    await Promise.all([a.becomes("usable"), b.becomes("usable")]);
    expect(await countTogether(a, b)).toBe(true);
  });
});

it("starts without Redis and finds it later", async () => {
  const port = await getPort({ host: "127.0.0.1" });
  const opened = watchedCache(`redis://127.0.0.1:${port}`);
  const limiter = opened.cache.limiter({ ...limits, attempts: 1 });
  const taken = async () => [(await limiter.take("key")).allowed, (await limiter.take("key")).allowed];
  // What waits for Redis takes a turn of the event loop at least.
  expect(await Promise.race([taken(), nextTurn("the next turn")])).toEqual([true, false]);
  await sleep(500);
  expect(opened.lines).toEqual([lost]);
  const server = await startRedis({ port });
  await opened.becomes("usable");
  expect((await limiter.take("key")).allowed).toBe(true);
  expect(opened.lines).toEqual([lost, found]);
  await opened.cache.close();
  await server.stop();
});

it("closes while it connects to what does not answer", async () => {
  const server = await startRedis();
  server.pause();
  const opened = watchedCache(server.url);
  await sleep(100);
  const started = performance.now();
  await opened.cache.close();
  expect(performance.now() - started).toBeLessThan(boundMs);
  expect(opened.lines).toEqual([]);
  server.resume();
  await server.stop();
});

it("counts alone where it may not come in, without writing the password down", async () => {
  const server = await startRedis();
  await server.command("CONFIG", "SET", "requirepass", "right");
  const lines: string[] = [];
  const log = createLog({ service: "test", destination: { write: (line) => void lines.push(line) } });
  const opened = watchedCache(server.url.replace("//", "//:wrong-password@"), { log });
  await expect.poll(() => lines.join()).toContain("WRONGPASS");
  expect((await opened.cache.limiter(limits).take("key")).allowed).toBe(true);
  expect(lines.join()).not.toContain("wrong-password");
  await opened.cache.close();
  const admitted = await connectedCache(server.url.replace("//", "//:right@"));
  await admitted.cache.close();
  await server.stop();
});
