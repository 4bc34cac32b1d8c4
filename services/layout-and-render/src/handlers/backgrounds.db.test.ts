import { hash, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { diskFiles } from "@tessera/engines/files/disk";
import { systemClock } from "@tessera/kit/clock";
import { runInContext } from "@tessera/kit/context";
import type { Files } from "@tessera/kit/files/files";
import { removeNotedFiles } from "@tessera/kit/jobs/files-to-remove";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { collect } from "@tessera/testkit/files-contract";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeBackgroundFiles } from "../jobs/remove-background-files.ts";
import { layoutDatabase } from "../testing/database.ts";
import { place, type RunningLayout, startLayout } from "../testing/start-layout.ts";

let directory: string;
let files: Files;
let service: RunningLayout;

const { database, db } = await layoutDatabase();
afterAll(() => database.drop());

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-backgrounds-"));
  files = diskFiles({ directory });
  service = await startLayout(db, { files });
  await service.reset();
  await service.prepareEvent();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const { signal } = new AbortController();
const pdf = (mark: string) => fileWith("application/pdf", mark);

/** Stores an upload as the gateway does. */
async function upload(mark = "a", { type = "application/pdf" } = {}) {
  const id = randomUUID();
  const bytes = pdf(mark);
  await files.put(`uploads/${id}`, bytes, { contentType: type });
  return { upload: id, contentType: type, size: bytes.length, sha256: hash("sha256", bytes) };
}

const keys = async () => (await collect(files.list("backgrounds/"))).map(({ key }) => key).sort();
const named = async () =>
  (
    await db.many<{ key: string }>(sql`
      select 'backgrounds/' || layout.background || '.pdf' as key
        from layout
       where layout.background is not null
       order by 1`)
  ).map(({ key }) => key);
const sweep = (laterMicros = 2 * 3_600_000_000) =>
  removeBackgroundFiles({ db, files, clock: { now: () => systemClock.now() + laterMicros } }).run(signal);
const find = (background = "") => service.layouts.findBackground({ ...place, background });
const gone = { kind: "not_found", code: "background_not_found" };

describe("a background", () => {
  it("[L5.1, L5.2] is copied, under a name that cannot be guessed, and outlives its upload", async () => {
    const sent = await upload("one");
    const { id, background = "" } = await service.create({ background: sent });
    expect(background).toMatch(/^[0-9a-f]{40}$/);
    await files.remove([`uploads/${sent.upload}`]);
    await sweep();
    const found = await find(background);
    expect(found).toEqual({ fileKey: `backgrounds/${background}.pdf`, size: sent.size, sha256: sent.sha256 });
    const stored = await files.get(found.fileKey);
    expect(stored?.contentType).toBe("application/pdf");
    expect(stored && (await buffer(stored.content))).toEqual(pdf("one"));
    expect((await service.get(id)).background).toBe(background);
  });

  it("[A10.2] is copied once where its request is repeated, also when its upload is gone by then", async () => {
    const sent = await upload("one");
    const repeat = async (act: () => Promise<unknown>) => {
      const requestId = randomUUID();
      const first = await runInContext({ requestId }, act);
      await files.remove([`uploads/${sent.upload}`]);
      expect(await runInContext({ requestId }, act)).toEqual(first);
      await files.put(`uploads/${sent.upload}`, pdf("one"), { contentType: sent.contentType });
      return first;
    };
    const { id } = (await repeat(() => service.create({ background: sent }))) as { readonly id: number };
    expect(await keys()).toHaveLength(1);
    await repeat(() => service.update(id, { background: sent }));
    expect(await keys()).toHaveLength(2);
  });

  it("[L5.2] of two layouts is stored twice, though they name one upload", async () => {
    const sent = await upload();
    const [one, two] = [await service.create({ background: sent }), await service.create({ background: sent })];
    expect(one.background).not.toBe(two.background);
    await service.layouts.deleteLayout({ ...place, id: one.id });
    await sweep();
    expect(await find(two.background)).toMatchObject({ size: sent.size });
  });

  it("[L5.3] is gone at once when it is replaced, removed, or deleted with its layout; then its file", async () => {
    const { id, background: first } = await service.create({ background: await upload("1") });
    const { background: second } = await service.update(id, { background: await upload("2") });
    await expect(find(first)).rejects.toMatchObject(gone);
    expect(await service.update(id, { name: "renamed" })).toMatchObject({ background: second });
    expect(await find(second)).toMatchObject({ size: pdf("2").length });
    expect(await service.update(id, { background: undefined })).toMatchObject({ background: undefined });
    await expect(find(second)).rejects.toMatchObject(gone);
    const { background: third } = await service.update(id, { background: await upload("3") });
    await service.layouts.deleteLayout({ ...place, id });
    await expect(find(third)).rejects.toMatchObject(gone);
    expect(await keys()).toHaveLength(3);
    await removeNotedFiles({ db, files }).run(signal);
    expect(await keys()).toEqual([]);
  });

  it("[L5.8] is not taken where those of its organizer take too much, nor kept where its layout is refused", async () => {
    const { id } = await service.create({ background: await upload(), isDefault: true });
    await expect(service.create({ background: await upload("2"), isDefault: true })).rejects.toMatchObject({
      code: "second_default",
    });
    expect(await keys()).toHaveLength(1);
    await db.run(sql`update layout set background_size = 2147483648`);
    const full = { kind: "invalid", code: "too_many_backgrounds", fields: { background: [expect.any(String)] } };
    await expect(service.create({ background: await upload("2") })).rejects.toMatchObject(full);
    await expect(service.update(id, { background: await upload("2") })).rejects.toMatchObject(full);
    expect(await keys()).toHaveLength(1);
    const other = { ...place, organizer: "other" };
    await service.prepareEvent(other);
    expect(await service.create({ background: await upload("2") }, other)).toMatchObject({ name: expect.any(String) });
  });

  it("[L5.8] has no room that another one takes at the same time", async () => {
    const { size } = await upload();
    await service.create({ background: await upload() });
    await db.run(sql`update layout set background_size = ${2 * 1024 ** 3 - 2 * size}`);
    await service.prepareEvent({ event: "other" });
    const places = [place, { ...place, event: "other" }];
    const sent = await Promise.all(Array.from({ length: 8 }, (_, at) => upload(String(at))));
    const outcomes = await Promise.allSettled(
      sent.map((background, at) => service.create({ background }, places[at % 2])),
    );
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(sent.length - 2);
    for (const { reason } of refused as PromiseRejectedResult[]) expect(reason.code).toBe("too_many_backgrounds");
    expect(await keys()).toHaveLength(3);
  });

  it("is found in its event alone", async () => {
    await service.prepareEvent({ event: "other" });
    const { background = "" } = await service.create({ background: await upload() });
    await expect(service.layouts.findBackground({ ...place, event: "other", background })).rejects.toMatchObject(gone);
    await expect(find("")).rejects.toMatchObject(gone);
    await expect(find("0".repeat(40))).rejects.toMatchObject(gone);
  });

  it.each([
    ["is gone", { upload: randomUUID() }],
    ["has no id", { upload: "../answers/x" }],
    ["is another file than was said", { sha256: "0".repeat(64) }],
    ["is of another type", { contentType: "image/png" }],
  ])("[L5.4] is refused if its upload %s", async (_name, changes) => {
    const sent = { ...(await upload()), ...changes };
    await expect(service.create({ background: sent })).rejects.toMatchObject({
      kind: "invalid",
      fields: { background: ["You have sent no file of this id within a day."] },
    });
    expect(await service.list()).toEqual([]);
    await sweep();
    expect(await keys()).toEqual([]);
  });
});

describe("[L5.5] a process that saves a background and is killed", () => {
  const killed = () => Promise.reject(new Error("killed"));

  async function startWith(parts: { files?: Partial<Files>; db?: Partial<Db> }): Promise<RunningLayout> {
    return startLayout({ ...db, ...parts.db }, { files: { ...files, ...parts.files } });
  }

  it("before the bytes are there leaves nothing", async () => {
    const dying = await startWith({ files: { put: killed } });
    await expect(dying.create({ background: await upload() })).rejects.toThrow("internal error");
    expect([await keys(), await service.list()]).toEqual([[], []]);
  });

  it("between the bytes and the row leaves bytes that are removed, and the layout as it was", async () => {
    const { id, background } = await service.create({ background: await upload("kept") });
    const dying = await startWith({ db: { transaction: killed } });
    await expect(dying.create({ background: await upload("lost") })).rejects.toThrow("internal error");
    await expect(dying.update(id, { background: await upload("lost") })).rejects.toThrow("internal error");
    expect(await keys()).toHaveLength(3);
    await sweep(0);
    expect(await keys()).toHaveLength(3);
    await sweep();
    expect(await keys()).toEqual(await named());
    expect((await service.get(id)).background).toBe(background);
  });

  it("behind the row has saved it", async () => {
    const committed: Db["transaction"] = async (work) => {
      await db.transaction(work);
      return killed();
    };
    const dying = await startWith({ db: { transaction: committed } });
    await expect(dying.create({ background: await upload() })).rejects.toThrow("internal error");
    await sweep();
    expect(await keys()).toHaveLength(1);
    expect(await keys()).toEqual(await named());
    const [layout] = await service.list();
    expect(await find(layout?.background)).toMatchObject({ size: pdf("a").length });
  });

  it("while files are removed leaves the rest to the next one", async () => {
    for (const mark of ["1", "2"]) {
      const { id } = await service.create({ background: await upload(mark) });
      await service.layouts.deleteLayout({ ...place, id });
    }
    const dying: Files = {
      ...files,
      async remove([first = ""]) {
        await files.remove([first]);
        throw new Error("killed");
      },
    };
    const clock = { now: () => systemClock.now() + 2 * 3_600_000_000 };
    await expect(removeBackgroundFiles({ db, files: dying, clock }).run(signal)).rejects.toThrow("killed");
    expect(await keys()).toHaveLength(1);
    await sweep();
    expect(await keys()).toEqual([]);
  });
});
