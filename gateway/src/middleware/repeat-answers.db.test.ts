import { sql } from "@tessera/kit/pg/sql";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { describe, expect, it } from "vitest";
import { deleteOldAnswers } from "../store/kept-answers.ts";
import { lists, repeatingGateway, withKey } from "../testing/repeating-gateway.ts";
import { inEvent, keys } from "../testing/serve-app.ts";

const gateway = repeatingGateway();
const { behind, created } = gateway;

describe("a request under an idempotency key", () => {
  it("[A10.2] is answered again as it was, and done once", async () => {
    const first = await gateway.app.send("POST", lists, withKey("k"));
    const second = await gateway.app.send("POST", lists, withKey("k"));
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
      await gateway.app.send("POST", `${inEvent}/${path}`, withKey("k", body)),
      await gateway.app.send("POST", `${inEvent}/${path}`, withKey("k", body)),
    ];
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
    expect(second.headers["content-type"]).toBe(first.headers["content-type"]);
    expect((await gateway.app.send("POST", `${inEvent}/${path}`, withKey("k", [{}]))).status).toBe(400);
    expect(gateway.app.peers.requestsOf("createVouchers")).toHaveLength(1);
  });

  it("[V3.14, A10.7] keeps what is wrong with a batch", async () => {
    const body = [{}, { code: "x" }];
    const [first, second] = [
      await gateway.app.send("POST", `${inEvent}/vouchers/batch_create/`, withKey("k", body)),
      await gateway.app.send("POST", `${inEvent}/vouchers/batch_create/`, withKey("k", body)),
    ];
    expect([first.status, first.json]).toEqual([400, [{}, { code: [expect.any(String)] }]]);
    expect([second.status, second.text]).toEqual([400, first.text]);
  });

  it("[A10.6] is answered 400 when its key belongs to another body, method, address or type", async () => {
    await gateway.app.send("POST", lists, withKey("k"));
    const others = await Promise.all([
      gateway.app.send("POST", lists, withKey("k", { name: "Gate 2" })),
      gateway.app.send("POST", `${lists}?page=2`, withKey("k")),
      gateway.app.send("PUT", `${lists}1/`, withKey("k")),
      gateway.app.send("DELETE", `${lists}1/`, { headers: { "x-idempotency-key": "k" } }),
      gateway.app.send("POST", "/api/v1/organizers/bigevents/events/other/checkinlists/", withKey("k")),
      gateway.app.send("POST", "/api/v1/organizers/nobody/events/sampleconf/checkinlists/", withKey("k")),
      gateway.app.send("POST", lists, {
        headers: { "x-idempotency-key": "k", "content-type": "text/plain" },
        body: JSON.stringify({ name: "Gate 1" }),
      }),
    ]);
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 400));
    expect(others[0]?.json).toEqual({ detail: expect.stringContaining("another request") });
    expect(created()).toBe(1);
  });

  it("[A10.3] does not meet the keys of other callers", async () => {
    await gateway.app.send("POST", lists, withKey("k"));
    await gateway.app.send("POST", lists, { ...withKey("k"), key: keys.settings });
    expect(created()).toBe(2);
  });

  it("[A10.13] is done again for another key, and where the key is empty", async () => {
    for (const key of ["a", "b", "", ""]) await gateway.app.send("POST", lists, withKey(key));
    expect(created()).toBe(4);
  });

  it.each([
    ["400", 400, () => gateway.app.send("POST", lists, withKey("k", { name: "" }))],
    ["403", 403, () => gateway.app.send("POST", lists, { ...withKey("k"), key: keys.reader })],
    ["404", 404, () => gateway.app.send("PATCH", `${lists}999/`, withKey("k"))],
    ["405", 405, () => gateway.app.send("PUT", lists, withKey("k"))],
    ["204", 204, () => gateway.app.send("DELETE", `${lists}1/`, { headers: { "x-idempotency-key": "k" } })],
  ])("[A10.1, A10.5, A10.7] keeps a %s", async (_name, status, send) => {
    if (status === 404) behind("not_found");
    const first = await send();
    const again = await send();
    expect([first.status, again.status]).toEqual([status, status]);
    expect(again.text).toBe(first.text);
    const { kept } = await gateway.db.one<{ kept: number }>(
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
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(status);
    const ids = () => gateway.db.many<{ request_id: string }>(sql`select kept_answer.request_id from kept_answer`);
    const before = await ids();
    behind();
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect(await ids()).toEqual(before);
  });

  it("[A10.4, A10.8] is not looked at without valid credentials", async () => {
    expect((await gateway.app.send("POST", lists, { ...withKey("k"), key: null })).status).toBe(401);
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(201);
  });

  it("[A10.9, A10.10] is done by one of fifty that come at once; the others wait for it or hear that it is under way", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => gateway.app.send("POST", lists, withKey("k"))));
    expect(created()).toBe(1);
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].every((status) => status === 201 || status === 409)).toBe(true);
    for (const { status, headers } of answers) if (status === 409) expect(headers["retry-after"]).toBe("5");
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect(created()).toBe(1);
  });

  it("[A10.9, A10.11] that its process left unfinished is taken on when the lease is over, not before", async () => {
    await gateway.app.send("POST", lists, withKey("k"));
    const left = (until: string) =>
      gateway.db.run(sql`update kept_answer set status = null, leased_until = now() + ${until}::text::interval`);
    await left("10 seconds");
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(409);
    expect(created()).toBe(1);
    await left("-1 second");
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect(created()).toBe(2);
  });

  it("[A10.12] may be another one a day later", async () => {
    await gateway.app.send("POST", lists, withKey("k"));
    await gateway.db.run(sql`update kept_answer set created_at = now() - interval '23 hours 59 minutes'`);
    expect(await deleteOldAnswers(gateway.db)).toBe(false);
    expect((await gateway.app.send("POST", lists, withKey("k", { name: "Gate 2" }))).status).toBe(400);
    await gateway.db.run(sql`update kept_answer set created_at = now() - interval '24 hours 1 minute'`);
    expect((await gateway.app.send("POST", lists, withKey("k", { name: "Gate 2" }))).status).toBe(201);
    await gateway.db.run(sql`update kept_answer set created_at = now() - interval '24 hours 1 minute'`);
    expect(await deleteOldAnswers(gateway.db)).toBe(false);
    expect(await gateway.db.many(sql`select kept_answer.key from kept_answer`)).toEqual([]);
  });

  it("[A10.13] takes keys of up to 190 characters, in any script", async () => {
    expect((await gateway.app.send("POST", lists, withKey("x".repeat(191)))).status).toBe(400);
    expect((await gateway.app.send("POST", lists, withKey("x".repeat(190)))).status).toBe(201);
  });

  it.each(["GET", "HEAD", "OPTIONS"])("[A10.1] has no meaning where nothing is changed: %s", async (method) => {
    const { status } = await gateway.app.send(method, lists, { headers: { "x-idempotency-key": "k" } });
    expect(status).toBe(200);
    expect(await gateway.db.many(sql`select kept_answer.key from kept_answer`)).toEqual([]);
  });

  it("[A10.1] has no meaning for a method that no address has", async () => {
    await gateway.app.send("POST", lists, withKey("k"));
    const { status } = await gateway.app.send("TRACE", lists, { headers: { "x-idempotency-key": "k" } });
    expect(status).toBe(405);
  });

  it("[A10.17] is not looked for where records are imported", async () => {
    const headers = { "x-idempotency-key": "k", "content-type": "text/plain" };
    for (const body of ["one", "another"]) {
      expect((await gateway.app.send("POST", "/api/v1/import/", { headers, body, key: keys.operator })).status).toBe(
        415,
      );
    }
    expect(await gateway.db.many(sql`select kept_answer.key from kept_answer`)).toEqual([]);
  });

  it("[A10.16] makes a scan without a nonce repeatable", async () => {
    const path = `${lists}1/positions/secret/redeem/`;
    await gateway.app.send("POST", path, withKey("k", {}));
    await gateway.app.send("POST", path, withKey("n", { nonce: "mine" }));
    const nonces = gateway.app.peers.requestsOf("redeem").map((sent) => (sent as { scan: Scan }).scan.nonce);
    expect(nonces).toContain("mine");
    expect(new Set(nonces.filter((nonce) => nonce !== "mine")).size).toBe(1);
    expect(nonces[0]).toMatch(/^[0-9a-f-]{36}$/);
  });
});
