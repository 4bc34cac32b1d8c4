import { memoryCache } from "@tessera/engines/cache/memory-cache";
import { sql } from "@tessera/kit/pg/sql";
import { beforeEach, describe, expect, it } from "vitest";
import { findFull } from "../jobs/find-full-callers.ts";
import { aList } from "../testing/fake-peers.ts";
import { lists, repeatingGateway, withKey } from "../testing/repeating-gateway.ts";
import { keys } from "../testing/serve-app.ts";

const gateway = repeatingGateway();
const { created, serveWith } = gateway;

describe("a database that is slow", () => {
  /** Makes every claim wait. */
  async function block(): Promise<() => Promise<void>> {
    const other = await gateway.db.dedicated();
    await other.run(sql`begin`);
    await other.run(sql`lock table kept_answer in exclusive mode`);
    return async () => {
      await other.run(sql`commit`);
      await other.release();
    };
  }

  const claims = () =>
    gateway.db.one<{ all: number; held: number }>(sql`
      select count(*) as all, count(*) filter (where kept_answer.leased_until > now()) as held from kept_answer`);

  it("[A10.19] allows a repetition of a request as soon as it is answered", async () => {
    await serveWith({ patienceMs: 50 });
    const goOn = await block();
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(503);
    await goOn();
    await expect.poll(claims).toEqual({ all: 1, held: 0 });
    await serveWith({});
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect(created()).toBe(1);
  });

  it("[A10.2] gets the answer again if the store was too slow to keep it", async () => {
    await serveWith({ patienceMs: 50 });
    let goOn = async () => {};
    gateway.app.peers.when("checkinLists", "createCheckinList", async () => {
      goOn = await block();
      return { list: aList() };
    });
    const first = await gateway.app.send("POST", lists, withKey("k"));
    expect(first.status).toBe(201);
    await goOn();
    await expect.poll(() => gateway.db.many(sql`select status from kept_answer`)).toEqual([{ status: 201 }]);
    await serveWith({});
    expect((await gateway.app.send("POST", lists, withKey("k"))).text).toBe(first.text);
    expect(created()).toBe(0);
  });
});

describe("beyond the rate limit", () => {
  beforeEach(() => serveWith({ rate: { cache: memoryCache(), limits: { requests: 1, scans: 0 } } }));

  const keysInUse = () => gateway.db.many(sql`select kept_answer.key from kept_answer order by kept_answer.key`);

  it("[A10.18] an answer that is kept is given again, and a new key leaves nothing behind", async () => {
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(201);
    const refused = await gateway.app.send("POST", lists, withKey("new"));
    expect(refused.status).toBe(429);
    expect(refused.headers["retry-after"]).toMatch(/^\d+$/);
    expect(await keysInUse()).toEqual([{ key: "k" }]);
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect(created()).toBe(1);
  });

  it("[A10.18] a body of more than 64 KiB is not read, and what is kept for it not given", async () => {
    const padded = (key: string, bytes: number, headers = {}) => ({
      headers: { "x-idempotency-key": key, "content-type": "application/json", ...headers },
      body: '{"name": "Gate 1"}'.padEnd(bytes),
    });
    const small = padded("small", 64 * 1024);
    const large = padded("large", 64 * 1024 + 1);
    const streamed = padded("large", 64 * 1024 + 1, { "transfer-encoding": "chunked" });
    const statuses = async () => {
      const answers = [];
      for (const sent of [small, large, streamed]) answers.push((await gateway.app.send("POST", lists, sent)).status);
      return answers;
    };
    const rate = { cache: memoryCache(), limits: { requests: 1, scans: 0 } };
    await serveWith({});
    expect(await statuses()).toEqual([201, 201, 201]);
    expect(created()).toBe(2);
    await serveWith({ rate });
    await gateway.app.send("POST", lists, withKey("k"));
    expect(await statuses()).toEqual([201, 429, 429]);
  });

  it("[A10.6, A10.9] a key of another request is 400, and one that is at work 409", async () => {
    await gateway.app.send("POST", lists, withKey("k"));
    expect((await gateway.app.send("POST", lists, withKey("k", { name: "Gate 2" }))).status).toBe(400);
    await gateway.db.run(sql`update kept_answer set status = null, leased_until = now() + interval '10 seconds'`);
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(409);
  });

  it("[A10.8, A10.12] what was left without an answer, or is a day old, stays as it is", async () => {
    await gateway.app.send("POST", lists, withKey("k"));
    const rows = () => gateway.db.many(sql`select kept_answer.attempt, kept_answer.status from kept_answer`);
    await gateway.db.run(sql`update kept_answer set created_at = now() - interval '24 hours 1 minute'`);
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(429);
    expect(await rows()).toEqual([{ attempt: 1, status: 201 }]);
    await gateway.db.run(sql`update kept_answer set created_at = now(), status = null, leased_until = now()`);
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(429);
    expect(await rows()).toEqual([{ attempt: 1, status: null }]);
    expect(created()).toBe(1);
  });
});

describe("a caller that has used many keys", () => {
  it("[A10.21] is refused another one, and gets what is kept", async () => {
    const { signal } = new AbortController();
    const count = () => findFull(gateway).run(signal);
    for (const key of ["a", "b", "c"]) expect((await gateway.app.send("POST", lists, withKey(key))).status).toBe(201);
    await gateway.app.send("POST", lists, { ...withKey("other"), key: keys.settings });
    await count();
    const refused = await gateway.app.send("POST", lists, withKey("d"));
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "60"]);
    expect((await gateway.app.send("POST", lists, withKey("a"))).status).toBe(201);
    expect((await gateway.app.send("POST", lists, { ...withKey("more"), key: keys.settings })).status).toBe(201);
    expect((await gateway.app.send("POST", lists, { body: { name: "without a key" } })).status).toBe(201);
    expect(created()).toBe(6);
    await gateway.db.run(sql`delete from kept_answer where key = 'a'`);
    await count();
    expect((await gateway.app.send("POST", lists, withKey("d"))).status).toBe(201);
  });
});
