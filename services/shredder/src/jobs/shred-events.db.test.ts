import { randomUUID } from "node:crypto";
import { systemClock } from "@tessera/kit/clock";
import { runInContext } from "@tessera/kit/context";
import { sql } from "@tessera/kit/pg/sql";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { topics } from "@tessera/protos/topics";
import { beginPut, collect } from "@tessera/testkit/files-contract";
import { passTime } from "@tessera/testkit/finish-work";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { exportsOf, shredding } from "../cases/work.ts";
import { shredder } from "../index.ts";
import { readCase } from "../store/cases.ts";
import { insertExport } from "../store/exports.ts";
import { shredderDatabase } from "../testing/database.ts";
import { mine, place, startShredder } from "../testing/start-shredder.ts";

const { db } = await shredderDatabase();
const service = await startShredder(db);
afterAll(() => service.close());
beforeEach(() => service.reset());

/** Starts the erasure of a new export. */
async function start(): Promise<{ readonly case: string; readonly file: string }> {
  const exported = await service.export();
  return service.shredders.startShred({ ...mine, ...exported });
}

const state = async (started: { readonly case: string; readonly file: string }) =>
  service.shredders.findShred({ ...mine, case: started.case, file: started.file });

const again = async () => {
  await passTime(db);
  await service.work();
};

/** What services were asked for. */
const requested = async () =>
  (
    await db.many<{ payload: Buffer }>(sql`
      select outbox.payload from outbox where outbox.topic = ${topics.shredRequested.name} order by outbox.id`)
  ).map(({ payload }) => topics.shredRequested.decode(payload));

const deleteEvent = async () => {
  service.clock.at = systemClock.now();
  await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}/`]);
};

describe("an erasure", () => {
  it("[D6.1] is requested once, and ends when all services are done", async () => {
    const started = await start();
    expect(await state(started)).toMatchObject({ state: JobState.WAITING });
    await service.work();
    expect(await state(started)).toEqual({ state: JobState.SUCCEEDED, message: "" });
    const request = { case: started.case, kinds: ["order_emails"] };
    expect(await requested()).toEqual([{ ...place, ...request, again: false, fromLedger: false }]);
    const closed = ["gateway", "layout-and-render", "voucher", "checkin", "boxoffice"];
    expect(service.peers.closed).toMatchObject(closed.map((name) => ({ service: name, ...request, version: "1" })));
    expect(service.peers.reopened).toEqual([]);
    const { statement } = await service.shredders.getCertificate({ ...place, case: started.case });
    const time = expect.stringMatching(/^20.+Z$/);
    expect(JSON.parse(Buffer.from(statement).toString())).toMatchObject({
      ...{ event: "sampleconf", case: started.case, requested_by: "api_key:7" },
      ...{ exported: time, export_made: time, requested: time, erased: time },
      services: expect.arrayContaining([
        {
          service: "voucher",
          erased: [{ shredder: "order_emails", holding: "order.data", count: 2 }],
          kept: [{ holding: "note.voucher", reason: "what the organizer noted" }],
        },
      ]),
    });
  });

  it.each(["checkin", "voucher", "layout-and-render"] as const)(
    "[D2.3] asks for nothing when the event has changed in %s since its export",
    async (name) => {
      const started = await start();
      service.peers.holders[name].version = "2";
      await service.work();
      expect(await state(started)).toMatchObject({
        state: JobState.FAILED,
        message: expect.stringContaining("changed"),
      });
      expect([await requested(), service.peers.closed]).toEqual([[], []]);
    },
  );

  it.each(["boxoffice", "checkin", "voucher"] as const)(
    "[D2.3, D2.4] asks for nothing when %s does not close the event, and takes back what was begun; then the export may be tried again",
    async (name) => {
      const exported = await service.export();
      const started = await service.shredders.startShred({ ...mine, ...exported });
      service.peers.closing.set(name, "It has changed.");
      await service.work();
      expect(await state(started)).toEqual({ state: JobState.FAILED, message: "It has changed." });
      expect(await requested()).toEqual([]);
      expect(service.peers.closed.at(-1)).toMatchObject({ service: name });
      const reopened = service.peers.reopened.filter((each) => each.case === started.case).map((each) => each.service);
      expect(reopened.toSorted()).toEqual(["boxoffice", "checkin", "gateway", "layout-and-render", "voucher"]);
      service.peers.closing.clear();
      const second = await service.shredders.startShred({ ...mine, ...exported });
      expect(second.case).not.toBe(started.case);
      await service.work();
      expect(await state(second)).toMatchObject({ state: JobState.SUCCEEDED });
    },
  );

  it("[D2.4] is refused at once, and takes back what was begun also after a crash, or when a service is back", async () => {
    const started = await start();
    service.peers.closing.set("boxoffice", "It has changed.");
    service.peers.holders.gateway.erasure = undefined;
    await service.work();
    expect(await state(started)).toMatchObject({
      state: JobState.FAILED,
      message: "It has changed.",
    });
    service.peers.holders.gateway.erasure = { state: ErasureState.UNKNOWN, parts: [], left: [] };
    await again();
    expect(service.peers.reopened).toContainEqual({ service: "gateway", case: started.case });
    expect(await state(started)).toMatchObject({ state: JobState.FAILED });
    expect(await requested()).toEqual([]);
  });

  it("[D6.6] fails when it could not begin for fifty minutes, with nothing erased", async () => {
    const started = await start();
    await db.run(sql`update shred_case set started_at = now() - interval '51 minutes'`);
    await service.work();
    expect(await state(started)).toMatchObject({ state: JobState.FAILED, message: expect.stringContaining("away") });
    expect([await requested(), service.peers.closed]).toEqual([[], []]);
  });

  it("[D6.9] ends when its event is deleted", async () => {
    const started = await start();
    service.peers.holders.voucher.erasure = undefined;
    await service.work();
    await deleteEvent();
    await again();
    await expect(state(started)).rejects.toMatchObject({ code: "shred_not_found" });
    const { kind } = shredding;
    expect(await db.one(sql`select cause from work where kind = ${kind}`)).toEqual({ cause: "The event was deleted." });
  });

  it("[D4.4] that ended with its event leaves its name to another one, which is exported and erased", async () => {
    await start();
    const { voucher } = service.peers.holders;
    const { erasure } = voucher;
    voucher.erasure = undefined;
    await service.work();
    await deleteEvent();
    voucher.erasure = erasure;
    const started = await start();
    await again();
    expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
  });

  it("[D4.4] does not touch the export of the next event of its name when it is under way", async () => {
    await start();
    const next = { ...mine, shredders: ["order_emails"], instance: "https://tickets.example" };
    let exported = { export: "", file: "" };
    const found = () => service.shredders.findExport({ ...mine, ...exported });
    service.peers.settling = async () => {
      service.peers.settling = undefined;
      await deleteEvent();
      exported = await service.shredders.startExport(next);
      await expect.poll(found).toMatchObject({ state: JobState.SUCCEEDED });
    };
    await service.work();
    expect(await service.files.get((await found()).fileKey)).toBeDefined();
  });

  it("[D6.8] is requested again where something is left, once a minute at most", async () => {
    const started = await start();
    const parts = [{ kind: "order_emails", holding: "position.state", count: 1 }];
    const { checkin } = service.peers.holders;
    checkin.erasure = { state: ErasureState.DONE, parts, left: parts };
    await service.work();
    const request = { ...place, case: started.case, kinds: ["order_emails"] };
    expect(await requested()).toEqual([{ ...request, again: false, fromLedger: false }]);
    await db.run(sql`update shred_case set requested_at = now() - interval '61 seconds'`);
    await again();
    await again();
    expect(await requested()).toEqual([
      { ...request, again: false, fromLedger: false },
      { ...request, again: true, fromLedger: false },
    ]);
    expect(await state(started)).toMatchObject({ state: JobState.WAITING });
    checkin.erasure = { state: ErasureState.DONE, parts, left: [] };
    await again();
    expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
  });

  it("[D6.7] goes on after its worker was killed, whatever it had done", async () => {
    const started = await start();
    // A killed worker leaves a claimed row behind, and services that were asked.
    await db.run(sql`update shred_case set requested_at = now()`);
    await db.run(sql`
      update work
         set state = 'running', turn = null, token = work.token + 1, tries = 1, due_at = now() - interval '1 second'
       where work.kind = 'shred personal data'`);
    service.peers.holders.checkin.version = "2";
    await service.work();
    await again();
    expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
    expect([await requested(), service.peers.closed]).toEqual([[], []]);
  });

  it("[D6.2, D6.7] waits for a service that is down, or has not erased everything", async () => {
    const started = await start();
    const { checkin, voucher } = service.peers.holders;
    checkin.erasure = undefined;
    voucher.erasure = { state: ErasureState.RUNNING, parts: [], left: [] };
    await service.work();
    expect(await state(started)).toMatchObject({ state: JobState.WAITING });
    const { cause } = await db.one<{ cause: string }>(
      sql`select work.cause from work where work.kind = 'shred personal data'`,
    );
    expect(cause).toMatch(/checkin does not answer; voucher is erasing/);
    const parts = [{ kind: "order_emails", holding: "position.state", count: 1 }];
    checkin.erasure = { state: ErasureState.DONE, parts, left: parts };
    voucher.erasure = { state: ErasureState.DONE, parts: [], left: [] };
    await again();
    expect(await state(started)).toMatchObject({ state: JobState.WAITING });
    checkin.erasure = { state: ErasureState.DONE, parts, left: [] };
    await again();
    expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
    expect(await requested()).toHaveLength(1);
  });

  it("[D6.7] goes on where a try has closed some services and no others", async () => {
    const started = await start();
    service.peers.refusing = "boxoffice";
    await service.work();
    expect(service.peers.closed.map((each) => each.service)).toContain("voucher");
    expect(await state(started)).toMatchObject({ state: JobState.WAITING });
    service.peers.refusing = undefined;
    await again();
    expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
  });

  it("[D2.4] is taken back in every service that answers, although one is away", async () => {
    await start();
    service.peers.closing.set("boxoffice", "It is online.");
    service.peers.holders.boxoffice.erasure = undefined;
    await service.work();
    expect(service.peers.reopened.map((each) => each.service).sort()).toEqual([
      "checkin",
      "gateway",
      "layout-and-render",
      "voucher",
    ]);
  });

  it("[D4.4, D6.9] is taken back when its event is deleted before anything was requested", async () => {
    const started = await start();
    service.peers.refusing = "boxoffice";
    await service.work();
    await deleteEvent();
    await again();
    await expect(state(started)).rejects.toMatchObject({ code: "shred_not_found" });
    const { kind } = shredding;
    expect(await db.one(sql`select cause from work where kind = ${kind}`)).toEqual({ cause: "The event was deleted." });
    expect(service.peers.reopened.map((each) => each.service)).toContain("voucher");
  });

  it("[D8.2] does not end with a deletion of before: that was of another event with the name", async () => {
    const started = await start();
    service.clock.at = systemClock.now() - 3_600_000_000;
    await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}/`]);
    await service.work();
    expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
  });

  it("[D6.11] is waited for without a pause while services erase", async () => {
    const started = await start();
    const { voucher } = service.peers.holders;
    voucher.erasure = { state: ErasureState.RUNNING, parts: [], left: [] };
    const finish = setTimeout(() => {
      voucher.erasure = { state: ErasureState.DONE, parts: [], left: [] };
    }, 3000);
    await service.work();
    clearTimeout(finish);
    expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
    expect(await db.one(sql`select work.tries from work where work.kind = 'shred personal data'`)).toEqual({
      tries: 1,
    });
  });

  it("[D6.6] is told as failed when a service has been away for long, and ends well when it is back", async () => {
    const started = await start();
    const { voucher } = service.peers.holders;
    voucher.erasure = undefined;
    await service.work();
    await db.run(sql`update shred_case set requested_at = now() - interval '1 hour'`);
    expect(await state(started)).toMatchObject({ state: JobState.FAILED, message: expect.stringContaining("away") });
    voucher.erasure = { state: ErasureState.DONE, parts: [], left: [] };
    await again();
    expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
    await expect(service.shredders.getCertificate({ ...place, case: started.case })).resolves.toBeDefined();
  });

  it("[D6.7] goes on when the event was closed before a crash, whatever has changed since", async () => {
    const started = await start();
    service.peers.closed.push({ ...place, case: started.case, kinds: [], version: "1", service: "boxoffice" });
    service.peers.holders.checkin.version = "2";
    await service.work();
    expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
    expect(await requested()).toHaveLength(1);
  });
});

it("[D6.4] starts once for an export, however often and at the same time it is asked for", async () => {
  const exported = await service.export();
  const started = await Promise.all(
    Array.from({ length: 8 }, () => service.shredders.startShred({ ...mine, ...exported })),
  );
  expect(new Set(started.map(({ case: id }) => id)).size).toBe(1);
  await service.work();
  await expect(service.shredders.startShred({ ...mine, ...exported })).rejects.toMatchObject({
    code: "export_not_found",
  });
  expect(await requested()).toHaveLength(1);
});

it("[D5.4] belongs to the one who asked for it, in its event", async () => {
  const started = await start();
  for (const other of [
    { credential: "another" },
    { event: "another" },
    { organizer: "another" },
    { file: started.case },
  ])
    await expect(
      service.shredders.findShred({ ...mine, case: started.case, file: started.file, ...other }),
    ).rejects.toMatchObject({ code: "shred_not_found" });
});

describe("[D6.13] what is left of exports", () => {
  const kept = async () => (await collect(service.files.list(exportsOf(place)))).map(({ key }) => key);
  beforeEach(async () => service.files.remove(await kept()));

  it("goes with their event's data, when a try was killed between its file and its row", async () => {
    const put = service.files.put.bind(service.files);
    service.files.put = async (...given) => {
      await put(...given);
      service.files.put = put;
      throw new Error("the process was killed here");
    };
    const exported = await service.export();
    await again();
    expect(await kept()).toHaveLength(2);
    const started = await service.shredders.startShred({ ...mine, ...exported });
    await service.work();
    expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
    expect(await kept()).toEqual([]);
  });

  it("goes with their event's data, when a try was killed while it wrote its file; one that goes on stays", async () => {
    const { other, erased } = { other: await service.export(["phone_numbers"]), erased: await service.export() };
    const killed = await beginPut(service.files, `${exportsOf(place)}${erased.export}/${randomUUID()}.zip`);
    const alive = await beginPut(service.files, `${exportsOf(place)}${other.export}/${randomUUID()}.zip`);
    const started = await service.shredders.startShred({ ...mine, ...erased });
    await service.work();
    expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
    const unfinished = (await collect(service.files.listUnfinished(exportsOf(place)))).map(({ key }) => key);
    expect(unfinished).toEqual([alive.key]);
    for (const { release } of [killed, alive]) release();
    expect([await killed.ended, await alive.ended]).toMatchObject([{ code: "files_unavailable" }, { size: 8 }]);
  });

  it("stays where another export may still name it, of other kinds or of later", async () => {
    const files = {
      other: await service.export(["phone_numbers"]),
      same: await service.export(),
      erased: await service.export(),
    };
    const later = { export: randomUUID() };
    await insertExport(db, { ...mine, id: later.export, file: randomUUID(), kinds: ["order_emails"], instance: "" });
    await db.run(sql`update export set started_at = now() + interval '1 hour' where export.id = ${later.export}::uuid`);
    const keyIn = async (id: string) => {
      const key = `${exportsOf(place)}${id}/${randomUUID()}.zip`;
      await service.files.put(key, Buffer.from("x"), { contentType: "application/zip" });
      return key;
    };
    const spared = [
      ...(await collect(service.files.list(`${exportsOf(place)}${files.other.export}/`))).map(({ key }) => key),
    ];
    for (const { export: id } of [files.other, later]) spared.push(await keyIn(id));
    for (const id of [files.same.export, files.erased.export, randomUUID()]) await keyIn(id);
    await service.shredders.startShred({ ...mine, ...files.erased });
    await service.work();
    expect(await kept()).toEqual(spared.toSorted());
  });
});

it("[D6.10] is answered once to a request that comes again, also when it has ended", async () => {
  const exported = { requestId: randomUUID() };
  const startExport = () =>
    runInContext(exported, () =>
      service.shredders.startExport({ ...mine, shredders: ["order_emails"], instance: "https://tickets.example" }),
    );
  const made = await startExport();
  service.peers.problem = "Not over.";
  expect(await startExport()).toEqual(made);
  service.peers.problem = undefined;
  await service.work();
  const shredded = { requestId: randomUUID() };
  const startShred = () => runInContext(shredded, () => service.shredders.startShred({ ...mine, ...made }));
  const started = await startShred();
  await service.work();
  expect(await state(started)).toMatchObject({ state: JobState.SUCCEEDED });
  expect(await startShred()).toEqual(started);
});

it("[D7.3] is certified to the organizer alone, also when its event was deleted, with a key that is told without a certificate", async () => {
  const started = await start();
  await service.work();
  await deleteEvent();
  const { organizer } = place;
  const found = await service.shredders.getCertificate({ organizer, event: "", case: started.case });
  expect(JSON.parse(Buffer.from(found.statement).toString())).toMatchObject({ case: started.case });
  expect((await service.shredders.getCertificateKey({})).publicKey).toBe(found.publicKey);
  for (const other of [
    { organizer: "another", event: "" },
    { organizer, event: "another" },
    // Another one may have its name.
    { organizer, event: place.event },
  ])
    await expect(service.shredders.getCertificate({ ...other, case: started.case })).rejects.toMatchObject({
      code: "certificate_not_found",
      message: expect.stringContaining("first one in the address of its status"),
    });
});

it("[D7.5] is certified with a new key when the stored one was removed", async () => {
  const started = await start();
  await service.work();
  const ask = () => service.shredders.getCertificate({ ...place, case: started.case });
  const before = await ask();
  await db.run(sql`delete from signing_key`);
  const after = await ask();
  expect(after.statement).toEqual(before.statement);
  expect(after.publicKey).not.toBe(before.publicKey);
  expect((await service.shredders.getCertificateKey({})).publicKey).toBe(after.publicKey);
});

it("[D6.6] is told for an hour", async () => {
  const started = await start();
  await service.work();
  await db.run(sql`update work set due_at = now() - interval '1 second' where work.state = 'succeeded'`);
  expect(await state(started)).toMatchObject({ state: JobState.GONE });
});

it("[D8.2] is not requested again for another event of the same name", async () => {
  await start();
  await service.work();
  await db.run(sql`delete from outbox`);
  await deleteEvent();
  const [rebuild] = shredder.rebuilds ?? [];
  expect(
    await db.transaction(async (tx) => rebuild?.publishNext(tx, { after: undefined, limit: 10, cutoff: 0 })),
  ).toBeUndefined();
});

it("[D8.1] is requested again when its topic is rebuilt", async () => {
  const started = await start();
  await service.work();
  await service.export();
  await db.run(sql`delete from outbox`);
  const [rebuild] = shredder.rebuilds ?? [];
  const first = await db.transaction(async (tx) =>
    rebuild?.publishNext(tx, { after: undefined, limit: 10, cutoff: 0 }),
  );
  expect(first?.published).toBe(1);
  expect(await requested()).toEqual([
    {
      ...{ ...place, case: started.case, kinds: ["order_emails"], again: true, fromLedger: true },
      requestedAt: (await readCase(db, { ...place, id: started.case })).requestedAt,
    },
  ]);
  expect(
    await db.transaction(async (tx) => rebuild?.publishNext(tx, { after: first?.last, limit: 10, cutoff: 0 })),
  ).toBeUndefined();
});
