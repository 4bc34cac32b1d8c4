import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { systemClock } from "@tessera/kit/clock";
import { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import type { Job } from "@tessera/kit/jobs/interval";
import { sql } from "@tessera/kit/pg/sql";
import { beginPut, collect } from "@tessera/testkit/files-contract";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { insertUpload, keyOf, type Upload } from "../store/uploads.ts";
import { gatewayDatabase } from "../testing/database.ts";
import { removeExpiredUploads, removeUnrecordedUploads } from "./remove-uploads.ts";

const hour = 3_600_000_000;
const { signal } = new AbortController();

let directory: string;
let files: Files;
let start: number;
const { database, db } = await gatewayDatabase();
afterAll(() => database.drop());
beforeEach(async () => {
  await db.run(sql`delete from upload`);
  directory = await mkdtemp(join(tmpdir(), "tessera-uploads-"));
  files = diskFiles({ directory });
  start = systemClock.now();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const jobAt = (job: typeof removeExpiredUploads, afterMicros: number, store = files): Job =>
  job({ db, files: store, clock: { now: () => start + afterMicros } });
const expire = (afterMicros: number, store?: Files) => jobAt(removeExpiredUploads, afterMicros, store).run(signal);
const removeUnrecorded = (afterMicros: number, store?: Files) =>
  jobAt(removeUnrecordedUploads, afterMicros, store).run(signal);

async function aFile(): Promise<string> {
  const id = randomUUID();
  await files.put(keyOf(id), Buffer.from("x"), { contentType: "image/png" });
  return id;
}

async function anUpload(changes: Partial<Upload> = {}): Promise<string> {
  const id = await aFile();
  await insertUpload(db, {
    id,
    organizer: "bigevents",
    credentialKind: "device",
    credentialId: "3",
    fileName: "Grüße ☺.png",
    contentType: "image/png",
    size: 1,
    sha256: "ab".repeat(32),
    createdAt: start,
    expiresAt: start + 24 * hour,
    ...changes,
  });
  return id;
}

const rows = async () => (await db.many<{ id: string }>(sql`select id from upload order by id`)).map(({ id }) => id);
const keys = async () => (await collect(files.list(""))).map(({ key }) => key);

describe("an upload", () => {
  it("is recorded as it was sent", async () => {
    const id = await anUpload();
    const row = await db.one(sql`
      select id, organizer, credential_kind, credential_id, file_name, content_type, size, encode(sha256, 'hex') as sha256,
             created_at, expires_at
        from upload`);
    expect(row).toEqual({
      id,
      organizer: "bigevents",
      credential_kind: "device",
      credential_id: "3",
      file_name: "Grüße ☺.png",
      content_type: "image/png",
      size: 1,
      sha256: "ab".repeat(32),
      created_at: start,
      expires_at: start + 24 * hour,
    });
  });

  it("stays for a day and an hour, in which it may turn out to be named, and goes then with its file", async () => {
    const [id, other] = [await anUpload(), await anUpload({ expiresAt: start + 25 * hour })];
    await expire(25 * hour - 1);
    expect(await rows()).toEqual([id, other].toSorted());
    await Promise.all([expire(25 * hour), expire(25 * hour), expire(25 * hour)]);
    expect([await rows(), await keys()]).toEqual([[other], [keyOf(other)]]);
  });

  it("goes also when there are thousands", async () => {
    await db.run(sql`
      insert into upload (id, organizer, credential_kind, credential_id, file_name, content_type, size, sha256, created_at, expires_at)
      select gen_random_uuid(), 'o', 'device', '1', 'a.png', 'image/png', 1, '', now(), now() from generate_series(1, 1200)`);
    await expire(2 * hour);
    expect(await rows()).toEqual([]);
  });

  it("stays until its file could be removed", async () => {
    const id = await anUpload();
    const unavailable: Files = {
      ...files,
      remove: () => Promise.reject(new Fault("unavailable", "files_unavailable", "the store is unavailable")),
    };
    await expect(expire(25 * hour, unavailable)).rejects.toMatchObject({ code: "files_unavailable" });
    expect([await rows(), await keys()]).toEqual([[id], [keyOf(id)]]);
  });

  it("is deleted if the process ended between the file and the row", async () => {
    const id = await anUpload();
    await files.remove([keyOf(id)]);
    await expire(25 * hour);
    expect(await rows()).toEqual([]);
  });
});

describe("a file without a row", () => {
  it("goes an hour later; what is recorded, young or of somebody else stays", async () => {
    const [killed, recorded] = [await aFile(), await anUpload()];
    const foreign = ["uploads/readme", "uploads/x/y", "backgrounds/1"];
    for (const key of foreign) await files.put(key, Buffer.from("x"), { contentType: "text/plain" });
    await removeUnrecorded(hour / 2);
    expect(await keys()).toContain(keyOf(killed));
    await Promise.all([removeUnrecorded(2 * hour), removeUnrecorded(2 * hour)]);
    expect((await keys()).toSorted()).toEqual([...foreign, keyOf(recorded)].toSorted());
  });

  it("goes an hour after its last bytes, if its process was killed before all of it had arrived", async () => {
    const put = await beginPut(files, keyOf(randomUUID()));
    const unfinished = async () => (await collect(files.listUnfinished(""))).map(({ key }) => key);
    await removeUnrecorded(hour / 2);
    expect(await unfinished()).toEqual([put.key]);
    await removeUnrecorded(2 * hour);
    expect(await unfinished()).toEqual([]);
    put.release();
    expect(await put.ended).toMatchObject({ code: "files_unavailable" });
  });

  it("goes also when there are many among many that are recorded", async () => {
    const many: Files = {
      ...files,
      async *list() {
        for (let count = 0; count < 1100; count += 1) yield { key: keyOf(randomUUID()), size: 1, storedAt: start };
        yield { key: keyOf(recorded), size: 1, storedAt: start };
      },
      async remove(keys) {
        removed.push(...keys);
      },
    };
    const recorded = await anUpload();
    const removed: string[] = [];
    await removeUnrecorded(2 * hour, many);
    expect(new Set(removed).size).toBe(1100);
    expect(removed).not.toContain(keyOf(recorded));
  });
});
