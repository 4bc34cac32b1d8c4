import { randomUUID } from "node:crypto";
import type { Db } from "@tessera/kit/pg/database";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findExpired, insertUpload, nameUploads, type Upload } from "./uploads.ts";

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "gateway", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  db = database.open("gateway");
});
afterAll(() => database.drop());

const day = 24 * 3_600_000_000;
const start = Date.UTC(2026, 10, 21, 12) * 1000;
const owner = { organizer: "bigevents", credentialKind: "device", credentialId: "3" } as const;

async function anUpload(changes: Partial<Upload> = {}): Promise<Upload> {
  const upload = {
    ...owner,
    id: randomUUID(),
    fileName: "Grüße ☺.png",
    contentType: "image/png",
    size: 7,
    sha256: "ab".repeat(32),
    createdAt: start,
    expiresAt: start + day,
    ...changes,
  };
  await insertUpload(db, upload);
  return upload;
}

const name = (ids: readonly string[], { now = start, keepUntil = start + 30 * day, by = {} } = {}) =>
  nameUploads(db, { ...owner, ...by, ids, now, keepUntil });
const isKeptUntil = async ({ id }: Upload, until: number) => {
  const expired = await Promise.all(
    [until - 1, until].map(async (now) => (await findExpired(db, { now, most: 1000 })).includes(id)),
  );
  expect(expired).toEqual([false, true]);
};

describe("an upload that is named", () => {
  it("[C5.57] is kept until its bytes have been copied, and at least as long as before", async () => {
    const upload = await anUpload();
    const { id, fileName, contentType, size, sha256 } = upload;
    expect(await name([upload.id])).toEqual([{ id, fileName, contentType, size, sha256 }]);
    await isKeptUntil(upload, start + 30 * day);
    await name([upload.id], { now: start + 20 * day, keepUntil: start + 21 * day });
    await isKeptUntil(upload, start + 30 * day);
  });

  it("is not found if it has expired, and stays expired", async () => {
    const upload = await anUpload();
    expect(await name([upload.id], { now: start + day })).toEqual([]);
    await isKeptUntil(upload, start + day);
    expect(await name([upload.id], { now: start + day - 1 })).toHaveLength(1);
  });

  it.each([
    ["another device", { credentialId: "4" }],
    ["a key of that name", { credentialKind: "api_key" as const }],
    ["another organizer", { organizer: "others" }],
  ])("[C5.57] is not found by %s", async (_name, by) => {
    const upload = await anUpload();
    expect(await name([upload.id], { by })).toEqual([]);
    await isKeptUntil(upload, start + day);
  });

  it("is found among others, once, whatever else is named", async () => {
    const [one, other] = [await anUpload(), await anUpload()];
    const ids = [one.id, randomUUID(), "x", "", `${one.id}x`, one.id, other.id];
    expect((await name(ids)).map(({ id }) => id).sort()).toEqual([one.id, other.id].sort());
    expect(await name(["x"])).toEqual([]);
    expect(await name([])).toEqual([]);
  });

  it("is named by many at a time, in whatever order", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await anUpload()).id));
    const named = await Promise.all(
      Array.from({ length: 20 }, (_, round) => name(round % 2 === 0 ? ids : ids.toReversed())),
    );
    expect(named.map(({ length }) => length)).toEqual(Array(20).fill(20));
  });
});
