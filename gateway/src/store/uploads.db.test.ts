import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { gatewayDatabase } from "../testing/database.ts";
import { countOutstanding, findExpired, findUploads, insertUpload, keepNamed, type Upload } from "./uploads.ts";

const { database, db } = await gatewayDatabase();
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

const name = (ids: readonly string[], { now = start, by = {} } = {}) => findUploads(db, { ...owner, ...by, ids, now });
const keep = (uploads: readonly string[], options: { now?: number; keepUntil?: number; organizer?: string } = {}) => {
  const { now = start, keepUntil = start + 30 * day, organizer = owner.organizer } = options;
  return keepNamed(db, {
    answers: uploads.map((upload) => ({ organizer, event: "sampleconf", upload })),
    now,
    keepUntil,
  });
};
const isKeptUntil = async ({ id }: Upload, until: number) => {
  const expired = await Promise.all(
    [until - 1, until].map(async (now) => (await findExpired(db, { now, graceMicros: 0, most: 1000 })).includes(id)),
  );
  expect(expired).toEqual([false, true]);
};

describe("an upload that is named", () => {
  it("[C5.57] is found, and expires as before", async () => {
    const upload = await anUpload();
    const { id, fileName, contentType, size, sha256 } = upload;
    expect(await name([upload.id])).toEqual([{ id, fileName, contentType, size, sha256 }]);
    await isKeptUntil(upload, start + day);
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
});

describe("an upload that a stored answer names", () => {
  it("[C5.57] is kept once, until its bytes have been copied", async () => {
    const [upload, other] = [await anUpload(), await anUpload()];
    await keep([upload.id, upload.id, randomUUID(), "x"]);
    await isKeptUntil(upload, start + 30 * day);
    await keep([upload.id], { now: start + 20 * day, keepUntil: start + 50 * day });
    await isKeptUntil(upload, start + 30 * day);
    await isKeptUntil(other, start + day);
    await keep([other.id], { organizer: "others" });
    await isKeptUntil(other, start + day);
    await keep([]);
    expect(await name([upload.id], { now: start + 20 * day })).toHaveLength(1);
  });

  it("does not count as outstanding, nor does an expired one", async () => {
    const organizer = "counted";
    const count = (by: { credentialId?: string } = {}, now = start) =>
      countOutstanding(db, { ...owner, organizer, ...by, now });
    expect(await count()).toEqual({ organizer: { files: 0, size: 0 }, credential: { files: 0, size: 0 } });
    const named = await anUpload({ organizer, size: 5 });
    await anUpload({ organizer, size: 7 });
    await anUpload({ organizer, size: 11, credentialId: "4" });
    await anUpload({ organizer, size: 13, credentialKind: "api_key" });
    const all = { files: 4, size: 36 };
    expect(await count()).toEqual({ organizer: all, credential: { files: 2, size: 12 } });
    expect(await count({ credentialId: "4" })).toEqual({ organizer: all, credential: { files: 1, size: 11 } });
    await keep([named.id], { organizer });
    expect(await count()).toEqual({ organizer: { files: 3, size: 31 }, credential: { files: 1, size: 7 } });
    expect(await count({}, start + day)).toMatchObject({ organizer: { files: 0 } });
  });
});
