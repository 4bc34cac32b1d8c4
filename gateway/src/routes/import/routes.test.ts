import { once } from "node:events";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { Fault } from "@tessera/kit/fault";
import { beforeEach, describe, expect, it } from "vitest";
import { appOfEachTest, devices, keys, type SendOptions } from "../../testing/serve-app.ts";

const ndjson = { "content-type": "application/x-ndjson" };
const item = (id: number) => `${JSON.stringify({ kind: "item", organizer: "o", event: "e", data: { id } })}\n`;
const list = `${JSON.stringify({ kind: "checkin_list", organizer: "o", event: "e", data: { id: 1 } })}\n`;

const app = appOfEachTest({ maxBytes: 1024 });
beforeEach(() => {
  for (const owner of ["boxofficeRecords", "checkinRecords"] as const)
    app.peers.when(owner, "applyRecords", async () => ({ rejected: [] }));
  for (const owner of ["boxofficeFacts", "checkinFacts"] as const)
    app.peers.when(owner, "markFacts", async () => ({ marker: "m", partitions: [] }));
  app.peers.when("checkinFacts", "caughtUp", async () => ({ caughtUp: true }));
});

const post = (body: string | Buffer, { query = "", ...options }: SendOptions & { query?: string } = {}) =>
  app.send("POST", `/api/v1/import/${query}`, {
    key: keys.operator,
    body,
    ...options,
    headers: { ...ndjson, ...options.headers },
  });

describe("POST /api/v1/import/", () => {
  it("[R1.3, R7.1, R7.2] answers what became of the records, however many bytes they are", async () => {
    const { status, json } = await post(item(1) + list + item(2).repeat(100));
    expect(status).toBe(200);
    expect(json).toEqual({
      records: 102,
      accepted: 102,
      rejected: 0,
      kinds: { item: 101, checkin_list: 1 },
      errors: [],
      warned: 0,
      warnings: [],
      ignored: [],
      settled: true,
      overbooked: [],
      ambiguous_secrets: [],
    });
  });

  it("[R8.2, R8.4] reports overbooked quotas, or that they could not be read", async () => {
    const order = `${JSON.stringify({ kind: "order", organizer: "o", event: "e", data: { code: "A" } })}\n`;
    const quota = { organizer: "o", event: "e", id: 7, size: 100, taken: 103 };
    app.peers.when("quotas", "findOverbooked", async () => ({ quotas: [quota] }));
    const { json } = await post(order);
    const { id, ...rest } = quota;
    expect(json).toMatchObject({ overbooked: [{ ...rest, quota: id }] });
    app.peers.when("quotas", "findOverbooked", async () => {
      throw new Fault("unavailable", "peer_unavailable", "away");
    });
    expect(await post(order)).toMatchObject({ status: 200, json: { accepted: 1, settled: true, overbooked: null } });
  });

  it("[R2.14] reads gzip, and nothing else", async () => {
    expect(await post(gzipSync(item(1)), { headers: { "content-encoding": "gzip" } })).toMatchObject({
      status: 200,
      json: { accepted: 1 },
    });
    expect((await post(item(1), { headers: { "content-encoding": "br" } })).status).toBe(415);
    expect((await post(item(1), { headers: { "content-encoding": "identity" } })).status).toBe(200);
  });

  it("[R7.3] names as many rejected lines as are wanted, a thousand without a wish", async () => {
    const bad = '{"kind":"item"}\n'.repeat(1100);
    const named = async (query: string) =>
      ((await post(bad, { query })).json as { errors: readonly unknown[] }).errors.length;
    expect(await named("")).toBe(1000);
    expect(await named("?errors=1050")).toBe(1050);
    expect(await named("?errors=100000")).toBe(1100);
    for (const wrong of ["0", "100001", "many"])
      expect(await post(bad, { query: `?errors=${wrong}` })).toMatchObject({
        status: 400,
        json: { errors: [expect.stringContaining("1 to 100000")] },
      });
  });

  it("[R7.19, R7.20] validates, and applies nothing", async () => {
    for (const owner of ["boxofficeRecords", "checkinRecords"] as const) {
      app.peers.when(owner, "applyRecords", () => Promise.reject(new Error("nothing is applied")));
      app.peers.when(owner, "validateRecords", async () => ({ outcome: { rejected: [] }, brought: [] }));
    }
    for (const query of ["?validate=true", "?validate=1", "?errors=5&validate=yes"]) {
      const { status, json } = await post(item(1) + list, { query });
      expect(status).toBe(200);
      expect(json).toMatchObject({ accepted: 2, rejected: 0, settled: false, overbooked: null });
    }
    expect(await post(item(1), { query: "?validate=true", key: keys.reader })).toMatchObject({ status: 403 });
    expect(await post("[{}]", { query: "?validate=true" })).toMatchObject({ status: 400 });
  });

  it("[R7.22] is 400 where a record was rejected, if that is wanted, and the same otherwise", async () => {
    const bad = '{"kind":"item"}\n';
    const loose = await post(item(1) + bad);
    const strict = await post(item(1) + bad, { query: "?strict=true" });
    expect([loose.status, strict.status]).toEqual([200, 400]);
    expect(strict.json).toEqual(loose.json);
    expect(strict.json).toMatchObject({ accepted: 1, rejected: 1, settled: true });
    expect(app.peers.calls.filter(({ method }) => method === "applyRecords")).toHaveLength(2);
    expect((await post(item(1), { query: "?strict=true" })).status).toBe(200);
    expect((await post(item(1) + bad, { query: "?strict=false" })).status).toBe(200);
  });

  it("[R2.15, R7.8] says what it had applied when the stream was cut off", async () => {
    const packed = gzipSync(Array.from({ length: 5000 }, (_, id) => item(id * 7919)).join(""));
    const { status, json } = await post(packed.subarray(0, packed.length - 100), {
      headers: { "content-encoding": "gzip" },
    });
    expect(status).toBe(400);
    expect(json).toMatchObject({ detail: expect.any(String), accepted: expect.any(Number), settled: true });
    expect((json as { accepted: number }).accepted).toBeGreaterThan(1000);
  });

  it.each([
    ["nothing", ""],
    ["HTML", "<html></html>"],
    ["an array", "[{}]"],
  ])("[R7.4] takes %s for no records", async (_name, body) => {
    expect(await post(body)).toMatchObject({ status: 400, json: { detail: expect.any(String) } });
  });

  it("[R1.2, S5.4] belongs to the operator, and to keys that may bring records", async () => {
    expect((await post(item(1), { key: null })).status).toBe(401);
    expect((await post(item(1), { key: "nobody" })).status).toBe(401);
    for (const key of [keys.reader, keys.settings, keys.none, devices.full])
      expect((await post(item(1), { key })).status).toBe(403);
    expect(app.peers.calls).toEqual([]);
  });

  it("[R1.34] of a key takes records of its organizer, and rejects all others by name", async () => {
    const own = item(1).replace('"o"', '"bigevents"').replace('"e"', '"sampleconf"');
    const { status, json } = await post(own + item(2) + own, { key: keys.all });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      accepted: 2,
      errors: [{ line: 2, kind: "item", errors: { organizer: ["This key brings records of bigevents alone."] } }],
    });
    const applied = app.peers.calls.filter(({ method }) => method === "applyRecords");
    expect(JSON.stringify(applied)).not.toContain('"o"');
  });

  it("[R1.35] of an organizer runs twice at once, a third time not", async () => {
    const held = Promise.withResolvers<void>();
    app.peers.when("boxofficeRecords", "applyRecords", async () => {
      await held.promise;
      return { rejected: [] };
    });
    const own = item(1).replace('"o"', '"bigevents"').replace('"e"', '"sampleconf"');
    const first = [post(own, { key: keys.all }), post(own, { key: keys.all })];
    await expect.poll(() => app.peers.calls.filter(({ method }) => method === "applyRecords").length).toBe(2);
    const third = await post(own, { key: keys.all });
    expect([third.status, third.headers["retry-after"]]).toEqual([429, "5"]);
    held.resolve();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await post(own, { key: keys.all })).status).toBe(200);
  });

  it("[R1.1] wants its own type", async () => {
    for (const type of ["application/json", "text/plain", ""]) {
      expect((await post(item(1), { headers: { "content-type": type } })).status).toBe(415);
    }
    expect((await post(item(1), { headers: { "content-type": "application/x-ndjson; charset=utf-8" } })).status).toBe(
      200,
    );
  });

  it("[R7.9] says what an owner's failure left undone", async () => {
    app.peers.when("boxofficeRecords", "applyRecords", async () => {
      throw new Fault("invalid", "broken", "the records cannot be read");
    });
    expect(await post(item(1))).toMatchObject({
      status: 200,
      json: { accepted: 0, rejected: 1, errors: [{ line: 1 }] },
    });
    app.peers.when("boxofficeRecords", "applyRecords", async () => {
      throw new TypeError("a bug");
    });
    const { status, json } = await post(item(1).repeat(30));
    expect(status).toBe(500);
    expect(json).toMatchObject({ detail: expect.any(String), accepted: 0 });
  });

  it("[R1.4] answers a method that is not there only to who may import", async () => {
    expect((await app.send("GET", "/api/v1/import/", { key: keys.operator })).status).toBe(405);
    expect((await app.send("GET", "/api/v1/import/")).status).toBe(405);
    expect((await app.send("GET", "/api/v1/import/", { key: keys.reader })).status).toBe(403);
  });

  it("[R7.10] answers at once to what it cannot read, though the client goes on sending", async () => {
    const answerTo = async (headers: object, body: string) => {
      const socket = connect(app.port, "127.0.0.1");
      socket.on("error", () => {});
      const head = {
        "Content-Type": "application/x-ndjson",
        ...headers,
        Authorization: `Token ${keys.operator}`,
        "Transfer-Encoding": "chunked",
      };
      const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`POST /api/v1/import/ HTTP/1.1\r\nHost: x\r\n${lines.join("")}\r\n`);
      const goOn = setInterval(() => socket.write(`${body.length.toString(16)}\r\n${body}\r\n`), 50);
      const [answer] = (await once(socket, "data")) as [Buffer];
      await once(socket, "close");
      clearInterval(goOn);
      return answer.toString();
    };
    const answers = await Promise.all([
      answerTo({}, "<html>\n"),
      answerTo({ "Content-Encoding": "gzip" }, "not gzip at all\n"),
      answerTo({ "Content-Type": "text/plain" }, "x"),
    ]);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 4(?:00|15) /);
  });

  it("[R6.8] stops when its client disconnects", async () => {
    const socket = connect(app.port, "127.0.0.1");
    const head = `POST /api/v1/import/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${keys.operator}\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const lines = item(1).repeat(600);
    socket.write(`${head}${lines.length.toString(16)}\r\n${lines}\r\n`);
    await expect.poll(() => app.peers.requestsOf("applyRecords")).toHaveLength(1);
    socket.destroy();
    await once(socket, "close");
    await expect.poll(() => app.logged.filter(({ message }) => message === "request")).toMatchObject([{ status: 499 }]);
    expect(app.logged.filter(({ level }) => level === "error")).toEqual([]);
  });
});
