import { sql } from "@tessera/kit/pg/sql";
import { ExportShape } from "@tessera/protos/gen/platform/v1/personal_data";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { topics } from "@tessera/protos/topics";
import { databaseTime } from "@tessera/testkit/database-time";
import { collect } from "@tessera/testkit/files-contract";
import { passTime } from "@tessera/testkit/finish-work";
import { strFromU8, unzipSync } from "fflate";
import { afterAll, beforeEach, expect, it } from "vitest";
import { shredderDatabase } from "../testing/database.ts";
import { emails, mine, pagesOf, startShredder } from "../testing/start-shredder.ts";

const { db } = await shredderDatabase();
const service = await startShredder(db);
afterAll(() => service.close());
beforeEach(() => service.reset());

/** The texts in the archive of an export, by their names. */
async function textsOf(exported: { readonly export: string; readonly file: string }): Promise<Record<string, string>> {
  const { state, message, fileKey } = await service.shredders.findExport({ ...mine, ...exported });
  expect([state, message]).toEqual([JobState.SUCCEEDED, ""]);
  const found = await service.files.get(fileKey);
  const chunks: Buffer[] = [];
  for await (const chunk of found?.content ?? []) chunks.push(chunk as Buffer);
  const parts = unzipSync(Buffer.concat(chunks));
  return Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [name, strFromU8(bytes)]));
}

it("[D5.1] holds the files of the chosen kinds, page by page", async () => {
  const { boxoffice, voucher } = service.peers.holders;
  boxoffice.files = [emails, { kind: "phone_numbers", name: "phone-by-order.json", shape: ExportShape.OBJECT }];
  boxoffice.pages.set(emails.name, pagesOf({ A: "ada@example.org", 'B"': "Ω" }));
  voucher.files = [{ kind: "waiting_list", name: "waiting-list.json", shape: ExportShape.ARRAY }];
  voucher.pages.set("waiting-list.json", pagesOf({ 1: { voucher: "X" }, 2: { voucher: "Y" } }));
  const texts = await textsOf(await service.export(["order_emails", "waiting_list", "invoices"]));
  expect(Object.keys(texts)).toEqual(["CONFIRM_CODE.txt", "index.json", emails.name, "waiting-list.json"]);
  expect(JSON.parse(texts[emails.name] ?? "")).toEqual({ A: "ada@example.org", 'B"': "Ω" });
  expect(JSON.parse(texts["waiting-list.json"] ?? "")).toEqual([{ voucher: "X" }, { voucher: "Y" }]);
  expect(texts["CONFIRM_CODE.txt"]).toMatch(/^[A-Z0-9]{6}$/);
  expect(JSON.parse(texts["index.json"] ?? "")).toMatchObject({
    ...{ instance: "https://tickets.example", organizer: "bigevents", event: "sampleconf" },
    ...{ confirm_code: texts["CONFIRM_CODE.txt"], held_nowhere: ["invoices"] },
    shredders: ["order_emails", "waiting_list", "invoices"],
  });
});

it("[D5.1] holds files under names that stay in the archive, each once", async () => {
  const folder = { kind: "question_answers", name: "answers", shape: ExportShape.FILES };
  await service.files.put("answers/a", Buffer.from("first"), { contentType: "text/plain" });
  await service.files.put("answers/b", Buffer.from("second"), { contentType: "text/plain" });
  service.peers.holders.boxoffice.files = [folder];
  const entry = (key: string, fileKey: string) => ({ key, fileKey, json: new Uint8Array() });
  const entries = [
    entry("../x", "answers/a"),
    entry("../x", "answers/b"),
    entry(`C:${"ä".repeat(150)}.png`, "answers/b"),
    // Shown as if it ended in ".png".
    entry("F-\u202egnp.exe", "answers/a"),
  ];
  service.peers.holders.boxoffice.pages.set(folder.name, [{ entries, next: "" }]);
  const {
    "index.json": _index,
    "CONFIRM_CODE.txt": _code,
    ...texts
  } = await textsOf(await service.export(["question_answers"]));
  expect(texts).toEqual({
    ".._x": "first",
    "2-.._x": "second",
    [`C_${"ä".repeat(97)}.png`]: "second",
    "F-_gnp.exe": "first",
  });
});

it("[D5.1] is not made while a file of it is missing", async () => {
  const folder = { kind: "question_answers", name: "answers", shape: ExportShape.FILES };
  const lost = { key: "x", fileKey: "answers/none", json: new Uint8Array() };
  service.peers.holders.boxoffice.files = [folder];
  service.peers.holders.boxoffice.pages.set(folder.name, [{ entries: [lost], next: "" }]);
  const exported = await service.export(["question_answers"]);
  const { state } = await service.shredders.findExport({ ...mine, ...exported });
  expect(state).toBe(JobState.WAITING);
});

it("[D5.6] is not kept when its data was erased while it was made", async () => {
  const { boxoffice } = service.peers.holders;
  boxoffice.files = [emails];
  const first = await service.export([]);
  boxoffice.pages.set(emails.name, pagesOf({ A: "ada@example.org" }));
  boxoffice.reading = async () => {
    await db.run(sql`
      insert into shred_case (organizer, event, id, file, export, credential, kinds, instance, export_sha256, exported_at,
                              requested_at, erased_at)
      select export.organizer, export.event, gen_random_uuid(), gen_random_uuid(), export.id, 'x', '{order_emails}', '', '',
             now(), now(), now()
        from export
       where export.id = ${first.export}::uuid`);
  };
  const exported = await service.export();
  const { state, message } = await service.shredders.findExport({ ...mine, ...exported });
  expect([state, message]).toEqual([JobState.FAILED, expect.stringContaining("erased")]);
  for await (const { key } of service.files.list(`shredder-exports/bigevents/sampleconf/${exported.export}/`))
    expect(key).toBe("gone");
});

it("[D5.4] ends with its event, also for one that gets the name, and its file goes", async () => {
  const { boxoffice } = service.peers.holders;
  boxoffice.files = [emails];
  boxoffice.pages.set(emails.name, pagesOf({ A: "ada@example.org" }));
  const exported = await service.export();
  const { fileKey } = await service.shredders.findExport({ ...mine, ...exported });
  const deletion = { at: await databaseTime(service.db) };
  const deleteEvent = () => service.deliver(topics.eventChanged, [`${mine.organizer}/${mine.event}/`], deletion);
  await deleteEvent();
  const missing = { code: "export_not_found" };
  await expect(service.shredders.findExport({ ...mine, ...exported })).rejects.toMatchObject(missing);
  await expect(service.shredders.startShred({ ...mine, ...exported })).rejects.toMatchObject(missing);
  const own = await service.export();
  // A rebuild may tell of the deletion late.
  await deleteEvent();
  expect(await service.shredders.findExport({ ...mine, ...own })).toMatchObject({ state: JobState.SUCCEEDED });
  await service.runJob("remove-noted-files");
  expect(await service.files.get(fileKey)).toBeUndefined();
});

it("[D5.4] ends with its event while it is made, and leaves no file", async () => {
  const { boxoffice } = service.peers.holders;
  boxoffice.files = [emails];
  boxoffice.pages.set(emails.name, pagesOf({ A: "ada@example.org" }));
  boxoffice.reading = async () =>
    service.deliver(topics.eventChanged, [`${mine.organizer}/${mine.event}/`], { at: await databaseTime(service.db) });
  const others = (await collect(service.files.list(""))).map(({ key }) => key);
  const exported = await service.export();
  const missing = { code: "export_not_found" };
  await expect(service.shredders.findExport({ ...mine, ...exported })).rejects.toMatchObject(missing);
  expect(await db.many(sql`select work.state from work`)).toEqual([{ state: "expired" }]);
  expect((await collect(service.files.list(""))).map(({ key }) => key)).toEqual(others);
});

it("[D5.6] is not stored by a process that was frozen while it was made", async () => {
  const { boxoffice } = service.peers.holders;
  boxoffice.files = [emails];
  boxoffice.pages.set(emails.name, pagesOf({ A: "ada@example.org" }));
  let isRead = false;
  boxoffice.reading = async () => {
    isRead = true;
    await db.run(sql`update work set state = 'expired', payload = null, due_at = now() + interval '1 hour'`);
  };
  const { export: id } = await service.export();
  const keys: string[] = [];
  for await (const { key } of service.files.list(`shredder-exports/bigevents/sampleconf/${id}/`)) keys.push(key);
  expect([isRead, keys]).toEqual([true, []]);
});

it("[D5.5] is made again from the beginning when a service fails while it is read, and fails after five tries", async () => {
  const { boxoffice } = service.peers.holders;
  boxoffice.files = [emails];
  const started = await service.export();
  const state = async () => (await service.shredders.findExport({ ...mine, ...started })).state;
  expect(await state()).toBe(JobState.WAITING);
  boxoffice.pages.set(emails.name, pagesOf({ A: "ada@example.org" }));
  await passTime(db);
  await service.work();
  expect(await state()).toBe(JobState.SUCCEEDED);
});

it("[D5.7] waits until boxoffice has the answers that check-in has counted, and then describes boxoffice", async () => {
  const { boxoffice, checkin } = service.peers.holders;
  boxoffice.version = "without the answer";
  boxoffice.files = [emails];
  boxoffice.pages.set(emails.name, pagesOf({ A: "ada@example.org" }));
  service.peers.settling = () => {
    boxoffice.version = "with the answer";
    checkin.version = "with another answer";
  };
  const seen: unknown[] = [];
  boxoffice.reading = async () => {
    seen.push(
      await db.one(sql`select versions ->> 'boxoffice' as boxoffice, versions ->> 'checkin' as checkin from export`),
    );
  };
  await service.export();
  expect(seen[0]).toEqual({ boxoffice: "with the answer", checkin: "1" });
  // What check-in has counted since is a change.
  expect(seen[1]).toEqual({ boxoffice: "with the answer", checkin: "with another answer" });
});

it("[D5.8] shows one moment: an event that changes while it is read is read again", async () => {
  const { boxoffice } = service.peers.holders;
  boxoffice.files = [emails, { ...emails, name: "emails-by-attendee.json" }];
  const both = (email: string) => {
    for (const { name } of boxoffice.files) boxoffice.pages.set(name, pagesOf({ A: email }));
  };
  both("before@example.org");
  let pages = 0;
  boxoffice.reading = async () => {
    pages += 1;
    // Between the two files.
    if (pages !== 2) return;
    boxoffice.version = "2";
    both("after@example.org");
  };
  const exported = await service.export();
  const texts = await textsOf(exported);
  const read = boxoffice.files.map(({ name }) => JSON.parse(texts[name] ?? "") as unknown);
  expect([pages, read]).toEqual([4, [{ A: "after@example.org" }, { A: "after@example.org" }]]);
  const kept: string[] = [];
  for await (const { key } of service.files.list(`shredder-exports/bigevents/sampleconf/${exported.export}/`))
    kept.push(key);
  expect(kept).toHaveLength(1);
});

it("[D5.8] of an event that changes again and again is kept, and cannot be erased", async () => {
  const { boxoffice } = service.peers.holders;
  boxoffice.files = [emails];
  boxoffice.pages.set(emails.name, pagesOf({ A: "ada@example.org" }));
  let changes = 0;
  boxoffice.reading = async () => {
    changes += 1;
    boxoffice.version = `changed ${changes}`;
  };
  const exported = await service.export();
  expect(JSON.parse((await textsOf(exported))[emails.name] ?? "")).toEqual({ A: "ada@example.org" });
  expect(changes).toBe(3);
  const { versions } = await db.one<{ versions: Record<string, string> }>(
    sql`select export.versions from export where export.id = ${exported.export}::uuid`,
  );
  expect(versions["boxoffice"]).toBe("changed 2");
});

it("[D2.2] is not started while the event is not ready", async () => {
  service.peers.problem = "Not over.";
  await expect(service.export()).rejects.toMatchObject({ code: "not_shreddable", message: "Not over." });
});
