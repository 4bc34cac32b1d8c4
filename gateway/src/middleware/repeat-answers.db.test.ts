import { once } from "node:events";
import { connect } from "node:net";
import { memoryCache } from "@tessera/engines/memory-cache";
import { Fault, type FaultKind } from "@tessera/kit/fault";
import { createLog } from "@tessera/kit/log";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AppOptions } from "../app.ts";
import { deleteKeptAnswers } from "../jobs/delete-answers.ts";
import { type FullCallers, findFull } from "../jobs/find-full-callers.ts";
import {
  claimRequest,
  deleteOldAnswers,
  eraseAnswers,
  findAnswer,
  findRequest,
  keepAnswer,
  releaseRequest,
} from "../store/kept-answers.ts";
import { aList, aVoucher } from "../testing/fake-peers.ts";
import { devices, inEvent, keys, type ServedApp, serveApp } from "../testing/serve-app.ts";
import { endClaims } from "./end-claims.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

let database: TestDatabase;
let db: Db;
let app: ServedApp;
const fullCallers: FullCallers = { most: 3, current: new Set() };

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "gateway", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  db = database.open("gateway");
});

afterAll(() => database.drop());

beforeEach(async () => {
  app = await serve();
});

async function serve({
  patienceMs = 4000,
  rate,
}: {
  patienceMs?: number;
  rate?: AppOptions["rate"];
} = {}): Promise<ServedApp> {
  const answers = endClaims(
    {
      claim: (request) => claimRequest(db, request),
      find: (request) => findRequest(db, request),
      keep: (claim, answer) => keepAnswer(db, claim, answer),
      release: (claim) => releaseRequest(db, claim),
      isFull: (caller) => fullCallers.current.has(caller),
    },
    { log, patienceMs },
  );
  app = await serveApp({ answers, findAnswer: (use) => findAnswer(db, use), ...(rate === undefined ? {} : { rate }) });
  behind();
  return app;
}

/** Serves again, with other options. */
async function serveWith(options: Parameters<typeof serve>[0]): Promise<void> {
  await app.close();
  await serve(options);
}

/** Makes the service behind answer, or refuse. */
function behind(refusal?: FaultKind): void {
  const answer =
    <T>(response: T) =>
    async () => {
      if (refusal !== undefined) throw new Fault(refusal, "told_so", "no");
      return response;
    };
  app.peers.when("checkinLists", "createCheckinList", answer({ list: aList() }));
  app.peers.when("checkinLists", "updateCheckinList", answer({ list: aList() }));
  app.peers.when("checkinLists", "deleteCheckinList", answer({}));
  app.peers.when("vouchers", "createVouchers", answer({ vouchers: [aVoucher({}, 1), aVoucher({}, 2)] }));
}

afterEach(async () => {
  fullCallers.current = new Set();
  await app.close();
  await db.run(sql`delete from kept_answer`);
});

const lists = `${inEvent}/checkinlists/`;
const withKey = (key: string, body: unknown = { name: "Gate 1" }) => ({
  headers: { "x-idempotency-key": key },
  body,
});

/** How often the service behind was asked to create. */
const created = () => app.peers.requestsOf("createCheckinList").length;

describe("a request under an idempotency key", () => {
  it("[A10.2] is answered again as it was, and done once", async () => {
    const first = await app.send("POST", lists, withKey("k"));
    const second = await app.send("POST", lists, withKey("k"));
    expect(first.status).toBe(201);
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers["content-type"]).toBe(first.headers["content-type"]);
    expect(second.headers["allow"]).toBe(first.headers["allow"]);
    expect(created()).toBe(1);
  });

  it.each([
    ["a voucher", "vouchers/", {}],
    ["a batch", "vouchers/batch_create/", [{}, { code: "ABCDE" }]],
    ["a batch of many bytes", "vouchers/batch_create/", Array(10).fill({ comment: "x".repeat(60_000) })],
  ])("[V3.14, A10.2, A10.6] creates %s once", async (_name, path, body) => {
    const [first, second] = [
      await app.send("POST", `${inEvent}/${path}`, withKey("k", body)),
      await app.send("POST", `${inEvent}/${path}`, withKey("k", body)),
    ];
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
    expect(second.headers["content-type"]).toBe(first.headers["content-type"]);
    expect((await app.send("POST", `${inEvent}/${path}`, withKey("k", [{}]))).status).toBe(400);
    expect(app.peers.requestsOf("createVouchers")).toHaveLength(1);
  });

  it("[V3.14, A10.7] keeps what is wrong with a batch", async () => {
    const body = [{}, { code: "x" }];
    const [first, second] = [
      await app.send("POST", `${inEvent}/vouchers/batch_create/`, withKey("k", body)),
      await app.send("POST", `${inEvent}/vouchers/batch_create/`, withKey("k", body)),
    ];
    expect([first.status, first.json]).toEqual([400, [{}, { code: [expect.any(String)] }]]);
    expect([second.status, second.text]).toEqual([400, first.text]);
  });

  it("[A10.6] is answered 400 when its key belongs to another body, method, address or type", async () => {
    await app.send("POST", lists, withKey("k"));
    const others = await Promise.all([
      app.send("POST", lists, withKey("k", { name: "Gate 2" })),
      app.send("POST", `${lists}?page=2`, withKey("k")),
      app.send("PUT", `${lists}1/`, withKey("k")),
      app.send("DELETE", `${lists}1/`, { headers: { "x-idempotency-key": "k" } }),
      app.send("POST", "/api/v1/organizers/bigevents/events/other/checkinlists/", withKey("k")),
      app.send("POST", "/api/v1/organizers/nobody/events/sampleconf/checkinlists/", withKey("k")),
      app.send("POST", lists, {
        headers: { "x-idempotency-key": "k", "content-type": "text/plain" },
        body: JSON.stringify({ name: "Gate 1" }),
      }),
    ]);
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 400));
    expect(others[0]?.json).toEqual({ detail: expect.stringContaining("another request") });
    expect(created()).toBe(1);
  });

  it("[A10.3] does not meet the keys of other callers", async () => {
    await app.send("POST", lists, withKey("k"));
    await app.send("POST", lists, { ...withKey("k"), key: keys.settings });
    expect(created()).toBe(2);
  });

  it("[A10.13] is done again for another key, and where the key is empty", async () => {
    for (const key of ["a", "b", "", ""]) await app.send("POST", lists, withKey(key));
    expect(created()).toBe(4);
  });

  it.each([
    ["400", 400, () => app.send("POST", lists, withKey("k", { name: "" }))],
    ["403", 403, () => app.send("POST", lists, { ...withKey("k"), key: keys.reader })],
    ["404", 404, () => app.send("PATCH", `${lists}999/`, withKey("k"))],
    ["405", 405, () => app.send("PUT", lists, withKey("k"))],
    ["204", 204, () => app.send("DELETE", `${lists}1/`, { headers: { "x-idempotency-key": "k" } })],
  ])("[A10.1, A10.5, A10.7] keeps a %s", async (_name, status, send) => {
    if (status === 404) behind("not_found");
    const first = await send();
    const again = await send();
    expect([first.status, again.status]).toEqual([status, status]);
    expect(again.text).toBe(first.text);
    const { kept } = await db.one<{ kept: number }>(
      sql`select count(*) as kept from kept_answer where kept_answer.status = ${status}`,
    );
    expect(kept).toBe(1);
  });

  it.each([
    ["unavailable", 503],
    ["conflict", 409],
    ["exhausted", 429],
  ] as const)("[A10.8] that met %s is tried again, under the same request id", async (kind, status) => {
    behind(kind);
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(status);
    const ids = () => db.many<{ request_id: string }>(sql`select kept_answer.request_id from kept_answer`);
    const before = await ids();
    behind();
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect(await ids()).toEqual(before);
  });

  it("[A10.4, A10.8] is not looked at without valid credentials", async () => {
    expect((await app.send("POST", lists, { ...withKey("k"), key: null })).status).toBe(401);
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(201);
  });

  it("[A10.9, A10.10] is done by one of fifty that come at once; the others wait for it or hear that it is under way", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.send("POST", lists, withKey("k"))));
    expect(created()).toBe(1);
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].every((status) => status === 201 || status === 409)).toBe(true);
    for (const { status, headers } of answers) if (status === 409) expect(headers["retry-after"]).toBe("5");
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect(created()).toBe(1);
  });

  it("[A10.9, A10.11] that its process left unfinished is taken on when the lease is over, not before", async () => {
    await app.send("POST", lists, withKey("k"));
    const left = (until: string) =>
      db.run(sql`update kept_answer set status = null, leased_until = now() + ${until}::text::interval`);
    await left("10 seconds");
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(409);
    expect(created()).toBe(1);
    await left("-1 second");
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect(created()).toBe(2);
  });

  it("[A10.12] may be another one a day later", async () => {
    await app.send("POST", lists, withKey("k"));
    await db.run(sql`update kept_answer set created_at = now() - interval '23 hours 59 minutes'`);
    expect(await deleteOldAnswers(db)).toBe(false);
    expect((await app.send("POST", lists, withKey("k", { name: "Gate 2" }))).status).toBe(400);
    await db.run(sql`update kept_answer set created_at = now() - interval '24 hours 1 minute'`);
    expect((await app.send("POST", lists, withKey("k", { name: "Gate 2" }))).status).toBe(201);
    await db.run(sql`update kept_answer set created_at = now() - interval '24 hours 1 minute'`);
    expect(await deleteOldAnswers(db)).toBe(false);
    expect(await db.many(sql`select kept_answer.key from kept_answer`)).toEqual([]);
  });

  it("[A10.13] takes keys of up to 190 characters, in any script", async () => {
    expect((await app.send("POST", lists, withKey("x".repeat(191)))).status).toBe(400);
    expect((await app.send("POST", lists, withKey("x".repeat(190)))).status).toBe(201);
  });

  it("[A10.1] has no meaning where nothing is changed", async () => {
    await app.send("GET", lists, { headers: { "x-idempotency-key": "k" } });
    expect(await db.many(sql`select kept_answer.key from kept_answer`)).toEqual([]);
  });

  it("[A10.17] is not looked for where records are imported", async () => {
    const headers = { "x-idempotency-key": "k", "content-type": "text/plain" };
    for (const body of ["one", "another"]) {
      expect((await app.send("POST", "/api/v1/import/", { headers, body, key: keys.operator })).status).toBe(415);
    }
    expect(await db.many(sql`select kept_answer.key from kept_answer`)).toEqual([]);
  });

  it("[A10.16] makes a scan without a nonce repeatable", async () => {
    const path = `${lists}1/positions/secret/redeem/`;
    await app.send("POST", path, withKey("k", {}));
    await app.send("POST", path, withKey("n", { nonce: "mine" }));
    const nonces = app.peers
      .requestsOf("redeem")
      .flatMap((sent) => (sent as { scans: Scan[] }).scans.map(({ nonce }) => nonce));
    expect(nonces).toContain("mine");
    expect(new Set(nonces.filter((nonce) => nonce !== "mine")).size).toBe(1);
    expect(nonces[0]).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("a database that is slow", () => {
  /** Makes every claim wait. */
  async function block(): Promise<() => Promise<void>> {
    const other = await db.dedicated();
    await other.run(sql`begin`);
    await other.run(sql`lock table kept_answer in exclusive mode`);
    return async () => {
      await other.run(sql`commit`);
      await other.release();
    };
  }

  const claims = () =>
    db.one<{ all: number; held: number }>(sql`
      select count(*) as all, count(*) filter (where kept_answer.leased_until > now()) as held from kept_answer`);

  it("[A10.19] allows a repetition of a request as soon as it is answered", async () => {
    await serveWith({ patienceMs: 50 });
    const goOn = await block();
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(503);
    await goOn();
    await expect.poll(claims).toEqual({ all: 1, held: 0 });
    await serveWith({});
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect(created()).toBe(1);
  });

  it("[A10.2] gets the answer again if the store was too slow to keep it", async () => {
    await serveWith({ patienceMs: 50 });
    let goOn = async () => {};
    app.peers.when("checkinLists", "createCheckinList", async () => {
      goOn = await block();
      return { list: aList() };
    });
    const first = await app.send("POST", lists, withKey("k"));
    expect(first.status).toBe(201);
    await goOn();
    await expect.poll(() => db.many(sql`select status from kept_answer`)).toEqual([{ status: 201 }]);
    await serveWith({});
    expect((await app.send("POST", lists, withKey("k"))).text).toBe(first.text);
    expect(created()).toBe(0);
  });
});

describe("beyond the rate limit", () => {
  beforeEach(() => serveWith({ rate: { cache: memoryCache({ log }), limits: { requests: 1, scans: 0 } } }));

  const keysInUse = () => db.many(sql`select kept_answer.key from kept_answer order by kept_answer.key`);

  it("[A10.18] an answer that is kept is given again, and a new key leaves nothing behind", async () => {
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(201);
    const refused = await app.send("POST", lists, withKey("new"));
    expect(refused.status).toBe(429);
    expect(refused.headers["retry-after"]).toMatch(/^\d+$/);
    expect(await keysInUse()).toEqual([{ key: "k" }]);
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(201);
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
      for (const sent of [small, large, streamed]) answers.push((await app.send("POST", lists, sent)).status);
      return answers;
    };
    const rate = { cache: memoryCache({ log }), limits: { requests: 1, scans: 0 } };
    await serveWith({});
    expect(await statuses()).toEqual([201, 201, 201]);
    expect(created()).toBe(2);
    await serveWith({ rate });
    await app.send("POST", lists, withKey("k"));
    expect(await statuses()).toEqual([201, 429, 429]);
  });

  it("[A10.6, A10.9] a key of another request is 400, and one that is at work 409", async () => {
    await app.send("POST", lists, withKey("k"));
    expect((await app.send("POST", lists, withKey("k", { name: "Gate 2" }))).status).toBe(400);
    await db.run(sql`update kept_answer set status = null, leased_until = now() + interval '10 seconds'`);
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(409);
  });

  it("[A10.8, A10.12] what was left without an answer, or is a day old, stays as it is", async () => {
    await app.send("POST", lists, withKey("k"));
    const rows = () => db.many(sql`select kept_answer.attempt, kept_answer.status from kept_answer`);
    await db.run(sql`update kept_answer set created_at = now() - interval '24 hours 1 minute'`);
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(429);
    expect(await rows()).toEqual([{ attempt: 1, status: 201 }]);
    await db.run(sql`update kept_answer set created_at = now(), status = null, leased_until = now()`);
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(429);
    expect(await rows()).toEqual([{ attempt: 1, status: null }]);
    expect(created()).toBe(1);
  });
});

describe("a request that is refused without having done anything", () => {
  const forbidden = (key: string, body: unknown = { name: "Gate 1" }) => ({ ...withKey(key, body), key: keys.reader });
  const age = (minutes: number) =>
    db.run(sql`
      update kept_answer
         set created_at = kept_answer.created_at - make_interval(mins => ${minutes}),
             leased_until = kept_answer.leased_until - make_interval(mins => ${minutes})`);

  it.each([
    ["forbidden", 403, () => app.send("POST", lists, forbidden("k"))],
    ["of an unknown object", 404, () => app.send("PATCH", `${lists}999/`, withKey("k"))],
    ["of an unknown method", 405, () => app.send("PUT", lists, withKey("k"))],
  ])("[A10.20] is remembered for ten minutes if it is %s", async (_name, status, send) => {
    if (status === 404) behind("not_found");
    const ids = () => db.many<{ request_id: string }>(sql`select kept_answer.request_id from kept_answer`);
    expect((await send()).status).toBe(status);
    const first = await ids();
    await age(9);
    await deleteOldAnswers(db);
    expect((await send()).status).toBe(status);
    expect(await ids()).toEqual(first);
    await age(2);
    expect((await send()).status).toBe(status);
    expect(await ids()).not.toEqual(first);
    await age(11);
    await deleteOldAnswers(db);
    expect(await ids()).toEqual([]);
  });

  it("[A10.20] frees its key for another request, whose answer a late one of before does not replace", async () => {
    const use = { caller: "c", key: "k", requestHash: Buffer.from("hash"), of: undefined };
    const before = await claimRequest(db, use);
    await db.run(sql`delete from kept_answer`);
    const now = await claimRequest(db, use);
    if (before.kind !== "claimed" || now.kind !== "claimed") throw new Error("a free key was not claimed");
    await keepAnswer(db, now.claim, { status: 404, headers: {}, body: null, isBrief: true });
    await keepAnswer(db, before.claim, { status: 201, headers: {}, body: null, isBrief: false });
    await releaseRequest(db, before.claim);
    expect(await findAnswer(db, use)).toMatchObject({ answer: { status: 404 } });
  });

  it("[A10.20] frees its key for another request after that time", async () => {
    behind("not_found");
    expect((await app.send("PATCH", `${lists}999/`, withKey("k"))).status).toBe(404);
    behind();
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(400);
    await age(11);
    expect((await app.send("GET", "/api/v1/idempotency_query?key=k")).json).toEqual({
      detail: expect.stringContaining("not used"),
    });
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(201);
    await age(11);
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect(created()).toBe(1);
  });

  it.each([
    ["forbidden", "POST", lists, keys.reader, 403],
    ["of an unknown method", "PUT", lists, keys.all, 405],
  ])("[S4.17] is answered without a look at its large body if it is %s", async (_name, method, path, key, status) => {
    const socket = connect(app.port, "127.0.0.1");
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${key}\r\nX-Idempotency-Key: k\r\nContent-Length: 1000000\r\n\r\n`,
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(await db.many(sql`select status from kept_answer`)).toEqual([]);
  });
});

describe("a caller that has used many keys", () => {
  it("[A10.21] is refused another one, and gets what is kept", async () => {
    const { signal } = new AbortController();
    const count = () => findFull({ db, fullCallers }).run(signal);
    for (const key of ["a", "b", "c"]) expect((await app.send("POST", lists, withKey(key))).status).toBe(201);
    await app.send("POST", lists, { ...withKey("other"), key: keys.settings });
    await count();
    const refused = await app.send("POST", lists, withKey("d"));
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "60"]);
    expect((await app.send("POST", lists, withKey("a"))).status).toBe(201);
    expect((await app.send("POST", lists, { ...withKey("more"), key: keys.settings })).status).toBe(201);
    expect((await app.send("POST", lists, { body: { name: "without a key" } })).status).toBe(201);
    expect(created()).toBe(6);
    await db.run(sql`delete from kept_answer where key = 'a'`);
    await count();
    expect((await app.send("POST", lists, withKey("d"))).status).toBe(201);
  });
});

describe("an event that no longer exists", () => {
  it("[A10.22] takes the answers about it along, and leaves its requests what they were", async () => {
    const { signal } = new AbortController();
    await db.run(sql`insert into event (organizer, event, revision) values ('bigevents', 'sampleconf', 1)`);
    await app.send("POST", lists, withKey("created"));
    await app.send("POST", lists, { ...withKey("forbidden"), key: keys.reader });
    const run = () => deleteKeptAnswers({ db }).run(signal);
    const kept = () => db.many(sql`select key, status, body is null as is_empty, event from kept_answer order by key`);
    await run();
    expect(await kept()).toEqual([
      { key: "created", status: 201, is_empty: false, event: "sampleconf" },
      { key: "forbidden", status: 403, is_empty: false, event: null },
    ]);
    await db.run(sql`delete from event`);
    await run();
    expect(await kept()).toMatchObject([
      { key: "created", status: null, is_empty: true, event: null },
      { key: "forbidden", status: 403 },
    ]);
  });

  it("[A10.22] has a repetition done again as the same request", async () => {
    const path = `${lists}1/positions/secret/redeem/`;
    await app.send("POST", lists, withKey("k"));
    const id = () => db.one<{ request_id: string }>(sql`select request_id from kept_answer`);
    const before = await id();
    expect(await eraseAnswers(db, { organizer: "bigevents", event: "other" })).toEqual({ count: 0, isMore: false });
    await app.send("POST", lists, withKey("k"));
    expect(created()).toBe(1);
    await eraseAnswers(db, { organizer: "bigevents", event: "sampleconf" });
    expect((await app.send("POST", path, withKey("k", {}))).status).toBe(400);
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect([created(), await id()]).toEqual([2, before]);
  });
});

describe("idempotency_query", () => {
  const ask = (key: string, as: string = keys.all) =>
    app.send("GET", `/api/v1/idempotency_query?key=${encodeURIComponent(key)}`, { key: as });

  it("[A10.14, A10.15] answers as the request was answered, and 404 for a key that the caller has not used", async () => {
    const first = await app.send("POST", lists, withKey("k"));
    const asked = await ask("k");
    expect([asked.status, asked.text, asked.headers["content-type"]]).toEqual([
      201,
      first.text,
      first.headers["content-type"],
    ]);
    expect((await ask("other")).status).toBe(404);
    expect((await ask("k", keys.reader)).status).toBe(404);
    expect((await ask("")).status).toBe(404);
  });

  it("[A10.15] answers 409 while the request is at work, and is open to every device and closed to the operator", async () => {
    await app.send("POST", lists, withKey("k"));
    await db.run(sql`update kept_answer set status = null, leased_until = now() + interval '10 seconds'`);
    expect((await ask("k")).status).toBe(409);
    expect((await ask("k", devices.kiosk)).status).toBe(404);
    expect((await ask("k", keys.operator)).status).toBe(403);
  });

  it("[A10.11, A10.15] answers 404 when no process is at work any more, and 409 again while a repetition is", async () => {
    const unkept = { detail: expect.stringContaining("Send it again") };
    behind("unavailable");
    await app.send("POST", lists, withKey("k"));
    expect([(await ask("k")).status, (await ask("k")).json]).toEqual([404, unkept]);
    behind();
    await app.send("POST", lists, withKey("died"));
    await db.run(sql`update kept_answer set status = null, leased_until = now() - interval '1 second'`);
    expect([(await ask("died")).status, (await ask("died")).json]).toEqual([404, unkept]);
    let meanwhile: number | undefined;
    app.peers.when("checkinLists", "createCheckinList", async () => {
      meanwhile = (await ask("died")).status;
      return { list: aList() };
    });
    expect((await app.send("POST", lists, withKey("died"))).status).toBe(201);
    expect([meanwhile, (await ask("died")).status]).toEqual([409, 201]);
  });

  it("[A10.15] says after an erasure that the request was processed", async () => {
    await app.send("POST", lists, withKey("k"));
    await eraseAnswers(db, { organizer: "bigevents", event: "sampleconf" });
    const erased = { detail: expect.stringContaining("the request was processed") };
    expect([(await ask("k")).status, (await ask("k")).json]).toEqual([404, erased]);
    expect((await app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect((await ask("k")).status).toBe(201);
  });
});
