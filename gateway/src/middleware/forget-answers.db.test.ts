import { once } from "node:events";
import { connect } from "node:net";
import { sql } from "@tessera/kit/pg/sql";
import { describe, expect, it } from "vitest";
import { deleteKeptAnswers } from "../jobs/delete-kept-answers.ts";
import {
  claimRequest,
  deleteOldAnswers,
  eraseAnswers,
  findAnswer,
  keepAnswer,
  releaseRequest,
} from "../store/kept-answers.ts";
import { lists, repeatingGateway, withKey } from "../testing/repeating-gateway.ts";
import { keys } from "../testing/serve-app.ts";

const gateway = repeatingGateway();
const { behind, created } = gateway;

describe("a request that is refused without having done anything", () => {
  const forbidden = (key: string, body: unknown = { name: "Gate 1" }) => ({ ...withKey(key, body), key: keys.reader });
  const age = (interval: string) =>
    gateway.db.run(sql`
      update kept_answer
         set created_at = kept_answer.created_at - ${interval}::text::interval,
             leased_until = kept_answer.leased_until - ${interval}::text::interval`);

  it.each([
    ["wrong", 400, () => gateway.app.send("POST", lists, withKey("k", { name: "" }))],
    ["forbidden", 403, () => gateway.app.send("POST", lists, forbidden("k"))],
    ["of an unknown object", 404, () => gateway.app.send("PATCH", `${lists}999/`, withKey("k"))],
    ["of an unknown method", 405, () => gateway.app.send("PUT", lists, withKey("k"))],
  ])("[A10.7, A10.12] is remembered for a day if it is %s", async (_name, status, send) => {
    if (status === 404) behind("not_found");
    const ids = () => gateway.db.many<{ request_id: string }>(sql`select kept_answer.request_id from kept_answer`);
    expect((await send()).status).toBe(status);
    const first = await ids();
    behind();
    await age("23 hours 59 minutes");
    await deleteOldAnswers(gateway.db);
    expect((await send()).status).toBe(status);
    const other = withKey("k", { name: "Gate 9" });
    const by = status === 403 ? { ...other, key: keys.reader } : other;
    expect((await gateway.app.send("POST", lists, by)).json).toEqual({
      detail: expect.stringContaining("another request"),
    });
    expect(await ids()).toEqual(first);
    await age("2 minutes");
    await deleteOldAnswers(gateway.db);
    expect(await ids()).toEqual([]);
  });

  it("[A10.12] frees its key for another request, whose answer a late one of before does not replace", async () => {
    const use = { caller: "c", key: "k", requestHash: Buffer.from("hash"), of: undefined };
    const before = await claimRequest(gateway.db, use);
    await gateway.db.run(sql`delete from kept_answer`);
    const now = await claimRequest(gateway.db, use);
    if (before.kind !== "claimed" || now.kind !== "claimed") throw new Error("a free key was not claimed");
    await keepAnswer(gateway.db, now.claim, { status: 404, headers: {}, body: null });
    await keepAnswer(gateway.db, before.claim, { status: 201, headers: {}, body: null });
    await releaseRequest(gateway.db, before.claim);
    expect(await findAnswer(gateway.db, use)).toMatchObject({ answer: { status: 404 } });
  });

  it.each([
    ["forbidden", "POST", lists, keys.reader, 403],
    ["of an unknown method", "PUT", lists, keys.all, 405],
  ])("[S4.17] is answered without a look at its large body if it is %s", async (_name, method, path, key, status) => {
    const socket = connect(gateway.app.port, "127.0.0.1");
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${key}\r\nX-Idempotency-Key: k\r\nContent-Length: 1000000\r\n\r\n`,
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(await gateway.db.many(sql`select status from kept_answer`)).toEqual([]);
  });
});

describe("an event that no longer exists", () => {
  it("[A10.22] takes the answers about it along, and leaves its requests what they were", async () => {
    const { signal } = new AbortController();
    await gateway.db.run(sql`insert into event (organizer, event, revision) values ('bigevents', 'sampleconf', 1)`);
    await gateway.app.send("POST", lists, withKey("created"));
    await gateway.app.send("POST", lists, { ...withKey("forbidden"), key: keys.reader });
    const run = () => deleteKeptAnswers(gateway).run(signal);
    const kept = () =>
      gateway.db.many(sql`select key, status, body is null as is_empty, event from kept_answer order by key`);
    await run();
    expect(await kept()).toEqual([
      { key: "created", status: 201, is_empty: false, event: "sampleconf" },
      { key: "forbidden", status: 403, is_empty: false, event: null },
    ]);
    await gateway.db.run(sql`delete from event`);
    await run();
    expect(await kept()).toMatchObject([
      { key: "created", status: null, is_empty: true, event: null },
      { key: "forbidden", status: 403 },
    ]);
  });

  it("[A10.22] has a repetition done again as the same request", async () => {
    const path = `${lists}1/positions/secret/redeem/`;
    await gateway.app.send("POST", lists, withKey("k"));
    const id = () => gateway.db.one<{ request_id: string }>(sql`select request_id from kept_answer`);
    const before = await id();
    expect(await eraseAnswers(gateway.db, { organizer: "bigevents", event: "other" })).toEqual({
      count: 0,
      isMore: false,
    });
    await gateway.app.send("POST", lists, withKey("k"));
    expect(created()).toBe(1);
    await eraseAnswers(gateway.db, { organizer: "bigevents", event: "sampleconf" });
    expect((await gateway.app.send("POST", path, withKey("k", {}))).status).toBe(400);
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect([created(), await id()]).toEqual([2, before]);
  });
});
