import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import type { Files } from "@tessera/kit/files/files";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { aGif, aPng } from "@tessera/sent-files/testing/sample-files";
import { collect } from "@tessera/testkit/files-contract";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { endClaims } from "../../middleware/end-claims.ts";
import { claimRequest, findAnswer, findRequest, keepAnswer, releaseRequest } from "../../store/kept-answers.ts";
import { insertUpload } from "../../store/uploads.ts";
import { gatewayDatabase } from "../../testing/database.ts";
import { aList } from "../../testing/fake-peers.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { inEvent, keys, people, type ServedApp, serveApp, withCookie } from "../../testing/serve-app.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

let directory: string;
let files: Files;
let gateways: readonly [ServedApp, ServedApp];
let isFull: boolean;

const { database, db } = await gatewayDatabase();
afterAll(() => database.drop());
beforeEach(async () => {
  isFull = false;
  directory = await mkdtemp(join(tmpdir(), "tessera-uploads-"));
  files = diskFiles({ directory });
  gateways = [await serve(), await serve()];
});
afterEach(async () => {
  for (const gateway of gateways) {
    requireDocumented(gateway);
    await gateway.close();
  }
  await db.run(sql`delete from kept_answer`);
  await db.run(sql`delete from upload`);
  await rm(directory, { recursive: true, force: true });
});

/** One of several gateways on one database and one file store. */
async function serve(): Promise<ServedApp> {
  const answers = endClaims(
    {
      claim: (request) => claimRequest(db, request),
      find: (request) => findRequest(db, request),
      keep: (claim, answer) => keepAnswer(db, claim, answer),
      release: (claim) => releaseRequest(db, claim),
      isFull: () => isFull,
    },
    { log },
  );
  const app = await serveApp({
    answers,
    findAnswer: (use) => findAnswer(db, use),
    uploads: { files, record: (upload) => insertUpload(db, upload), now: () => Date.now() * 1000, maxBytes: 4096 },
  });
  app.peers.when("checkinLists", "createCheckinList", async () => ({ list: aList() }));
  return app;
}

interface File {
  readonly body?: Buffer;
  readonly type?: string;
  readonly name?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string | null;
}

function upload(
  idempotencyKey: string,
  { body = aPng(), type = "image/png", name = "a.png", headers = {}, key = keys.all }: File = {},
  gateway = gateways[0],
) {
  const own = { "x-idempotency-key": idempotencyKey, "content-type": type };
  const disposition = { "content-disposition": `attachment; filename="${name}"` };
  return gateway.send("POST", "/api/v1/upload", { body, key, headers: { ...own, ...disposition, ...headers } });
}
const create = (key: string) =>
  gateways[0].send("POST", `${inEvent}/checkinlists/`, { headers: { "x-idempotency-key": key }, body: { name: "x" } });

/** How many files are recorded, and how many stored. */
const held = async () => ({
  rows: (await db.many(sql`select id from upload`)).length,
  files: (await collect(files.list(""))).length,
});
const one = { rows: 1, files: 1 };

describe("an upload that comes again under its idempotency key", () => {
  it("[A10.2, A10.23] gets the first id, at any gateway, and nothing more is stored", async () => {
    const first = await upload("k");
    expect(first.status).toBe(201);
    const again = await upload("k", {}, gateways[1]);
    expect([again.status, again.text, again.headers["content-type"]]).toEqual([
      201,
      first.text,
      first.headers["content-type"],
    ]);
    // In chunks, and with parameters of its type, it is the same file.
    const pieces = await upload("k", { type: "image/png; q=1", headers: { "transfer-encoding": "chunked" } });
    expect([pieces.status, pieces.text]).toEqual([201, first.text]);
    const asked = await gateways[1].send("GET", "/api/v1/idempotency_query?key=k");
    expect([asked.status, asked.text]).toEqual([201, first.text]);
    expect(await held()).toEqual(one);
  });

  it("[P3.6] of a person is of that person, and no other caller's request under the same key", async () => {
    const asPerson = (token: string) => ({ key: null, headers: withCookie(token) });
    const first = await upload("k", asPerson(people.all));
    expect(first.status).toBe(201);
    expect((await upload("k", asPerson(people.all), gateways[1])).text).toBe(first.text);
    const ofKey = await upload("k");
    expect([ofKey.status, ofKey.text === first.text]).toEqual([201, false]);
    const owners = await db.many(sql`select credential_kind as kind from upload order by credential_kind`);
    expect(owners).toEqual([{ kind: "api_key" }, { kind: "person" }]);
  });

  it("[A10.6, A10.23] is 400 with another content, type or name, and at another address", async () => {
    await upload("k");
    const others = [
      await upload("k", { body: aPng({ width: 7 }) }),
      await upload("k", { body: aGif(), type: "image/gif", name: "a.gif" }),
      await upload("k", { name: "b.png" }),
      await upload("k", { name: "" }),
      await create("k"),
    ];
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 400));
    for (const each of [0, 1, 2, 4]) expect(others[each]?.json).toEqual({ detail: expect.stringContaining("another") });
    expect((await create("of a list")).status).toBe(201);
    expect((await upload("of a list")).json).toEqual({ detail: expect.stringContaining("another request") });
    expect(await held()).toEqual(one);
  });

  it("[A10.3] is another one under another key, or of another caller", async () => {
    await upload("k");
    await upload("l");
    await upload("k", { key: keys.settings });
    await upload("");
    await upload("");
    expect(await held()).toEqual({ rows: 5, files: 5 });
  });

  it("[A10.9, A10.10, A10.23] is taken once of many at the same time at two gateways", async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => upload("k", {}, gateways[index % 2])));
    const taken = answers.filter(({ status }) => status === 201);
    expect(taken.length).toBeGreaterThan(0);
    expect(new Set(taken.map(({ text }) => text)).size).toBe(1);
    for (const { status, headers } of answers)
      if (status !== 201) expect([status, headers["retry-after"]]).toEqual([409, "5"]);
    expect((await upload("k")).text).toBe(taken[0]?.text);
    expect(await held()).toEqual(one);
  });

  it("[A10.11, A10.23] names the first file if a process died before it could answer", async () => {
    const first = await upload("k");
    await db.run(sql`update kept_answer set status = null, headers = null, body = null, leased_until = now()`);
    const again = await upload("k", {}, gateways[1]);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(await held()).toEqual(one);
  });

  it("[A10.7, A10.23] gets again what was wrong with the file", async () => {
    const bad = { body: aGif() };
    const [first, again] = [await upload("k", bad), await upload("k", bad, gateways[1])];
    expect([first.status, again.status, again.text]).toEqual([400, 400, first.text]);
    expect((await upload("k")).json).toEqual({ detail: expect.stringContaining("another request") });
    expect(await held()).toEqual({ rows: 0, files: 0 });
  });

  it("[A10.13, A10.23] leaves its key free where it is refused before its file has arrived", async () => {
    expect((await upload("k", { body: Buffer.alloc(5000) })).status).toBe(400);
    expect((await upload("k", { body: Buffer.alloc(5000), headers: { "transfer-encoding": "chunked" } })).status).toBe(
      400,
    );
    expect((await upload("k", { name: "a.gif" })).status).toBe(400);
    expect((await upload("k", { key: keys.operator })).status).toBe(403);
    expect((await upload("x".repeat(191))).status).toBe(400);
    expect(await db.many(sql`select key from kept_answer`)).toEqual([]);
    expect((await upload("k")).status).toBe(201);
  });

  it("[A10.21, A10.23] is repeated where too many keys are in use, and a new one refused", async () => {
    const first = await upload("k");
    isFull = true;
    expect((await upload("k")).text).toBe(first.text);
    expect((await upload("l")).status).toBe(429);
    expect(await held()).toEqual(one);
  });
});
