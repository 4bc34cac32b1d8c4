import { systemClock } from "@tessera/kit/clock";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { ShredState } from "@tessera/protos/gen/ticketing/shredder/v1/shreds";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { parseInstant } from "@tessera/values";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { killedDb } from "../testing/killed-db.ts";
import { mine, place, type RunningShredder, startShredder } from "../testing/start-shredder.ts";

let database: TestDatabase;
let db: Db;
let killed: ReturnType<typeof killedDb>;
let service: RunningShredder;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "shredder", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  db = database.open("shredder");
  killed = killedDb(db);
  service = await startShredder(killed.db);
});
afterAll(async () => {
  await service.close();
  await database.drop();
});
beforeEach(() => service.reset());

const { organizer, event } = place;
const long = parseInstant("2020-01-01T00:00:00Z") ?? 0;
const kinds = ["attendee_info", "order_emails"];
const instance = "https://tickets.example";
const sweep = () => service.runJob("apply-retention");
const set = (changes: { days?: number; shredders?: string[]; organizer?: string } = {}) =>
  service.retention.setRetention({ organizer, days: 90, shredders: kinds, instance, ...changes });

/** Sweeps once, and does the work that this has begun. */
async function turn(): Promise<void> {
  await sweep();
  await service.work();
}

/** Lets so many days pass. */
const pass = (days: number) =>
  db.run(sql`
    update announced_erasure
       set announced_at = announced_at - make_interval(days => ${days}), due_at = due_at - make_interval(days => ${days}),
           next_at = next_at - make_interval(days => ${days})`);

/** Has all events read again with the next sweep. */
const readAgain = () => db.run(sql`update retention set round_at = now()`);

/** Announces what is there, and lets a week pass. */
async function untilDue(): Promise<void> {
  await sweep();
  await pass(7);
}

const upcoming = async (of: string = organizer) =>
  (await service.retention.listUpcoming({ organizer: of, page: 1, pageSize: 50 })).erasures.map((each) => [
    each.event,
    each.state.replace("UPCOMING_STATE_", "").toLowerCase(),
    ...(each.reason === undefined ? [] : [each.reason]),
  ]);

const erased = async (of: string = organizer) =>
  (await service.retention.listErased({ organizer: of, page: 1, pageSize: 50 })).erasures.map((each) => each.event);

const count = async () =>
  db.one(sql`
    select (select count(*) from export) as exports, (select count(*) from shred_case) as cases,
           (select count(*) from shred_case where shred_case.requested_at is not null) as requested`);

/** Erases the event as a person does. */
async function erase(shredders: readonly string[]): Promise<void> {
  const exported = await service.export(shredders);
  await service.shredders.startShred({ ...mine, ...exported });
  await service.work();
}

describe("an erasure that retention makes", () => {
  it("[D9.2, D9.5, D9.10] is announced for a week, and then exported, erased and certified", async () => {
    service.peers.events = [{ event, at: long }];
    await set();
    await sweep();
    expect(await upcoming()).toEqual([[event, "announced"]]);
    await pass(6);
    await turn();
    expect([await upcoming(), await count()]).toEqual([[[event, "announced"]], { exports: 0, cases: 0, requested: 0 }]);
    await pass(1);
    await sweep();
    expect(await upcoming()).toEqual([[event, "exporting"]]);
    await sweep();
    expect(await upcoming()).toEqual([[event, "exporting"]]);
    await service.work();
    await sweep();
    expect(await upcoming()).toEqual([[event, "erasing"]]);
    await service.work();
    await sweep();
    expect([await upcoming(), await erased()]).toEqual([[], [event]]);
    const { erasures } = await service.retention.listErased({ organizer, page: 1, pageSize: 50 });
    const { statement } = await service.shredders.getCertificate({ ...place, case: erasures[0]?.case ?? "" });
    expect(JSON.parse(Buffer.from(statement).toString())).toMatchObject({ event, shredders: kinds, instance });
    await readAgain();
    await turn();
    expect([await upcoming(), await count()]).toEqual([[], { exports: 1, cases: 1, requested: 1 }]);
  });

  it("[D9.6] cannot be found by a key", async () => {
    service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    const { export: id, file } = await db.one<{ export: string; file: string }>(
      sql`select export.id as export, export.file from export`,
    );
    await expect(service.shredders.findExport({ ...mine, export: id, file })).rejects.toMatchObject({
      code: "export_not_found",
    });
  });

  it("[D9.7] is begun twice by no kill, and lost by none", async () => {
    /** Ends the work that is there, as workers do. */
    const finish = async () => {
      await db.run(sql`
        update work set state = 'succeeded', turn = null, due_at = now() + work.keep, payload = null, result = ''
         where work.state = 'waiting'`);
      await db.run(sql`update export set file_key = export.id::text, sha256 = ''`);
      await db.run(sql`update shred_case set requested_at = now(), erased_at = now()`);
    };
    let kills = 0;
    for (let at = 1; kills === at - 1; at += 1) {
      await service.reset();
      service.peers.events = [{ event, at: long }];
      await set();
      killed.killAt(at);
      const surely = async () => {
        while (await killed.during(sweep)) kills += 1;
      };
      await surely();
      await pass(7);
      for (let turns = 0; turns < 3; turns += 1) {
        await surely();
        await finish();
      }
      expect([at, await upcoming(), await erased(), await count()]).toEqual([
        ...[at, [], [event]],
        { exports: 1, cases: 1, requested: 1 },
      ]);
    }
    expect(kills).toBeGreaterThan(25);
  });

  it("[D9.7] is begun once by many sweeps at the same time", async () => {
    service.peers.events = Array.from({ length: 5 }, (_, index) => ({ event: `event-${index}`, at: long + index }));
    await set();
    await Promise.all(Array.from({ length: 4 }, sweep));
    await pass(7);
    for (let turns = 0; turns < 16; turns += 1) {
      await Promise.all(Array.from({ length: 3 }, sweep));
      expect(
        (await upcoming()).filter(([, state]) => state === "exporting" || state === "erasing").length,
      ).toBeLessThan(2);
      await service.work();
    }
    expect([await upcoming(), await count()]).toEqual([[], { exports: 5, cases: 5, requested: 5 }]);
  });

  it("[D9.8] is one of two at a time, and the only one of its organizer", async () => {
    const organizers = ["a", "b", "c"];
    service.peers.events = organizers.flatMap((each) =>
      ["one", "two"].map((name) => ({ organizer: each, event: name, at: long })),
    );
    for (const each of organizers) await set({ organizer: each });
    await untilDue();
    const begun = async () =>
      (await Promise.all(organizers.map((each) => upcoming(each)))).map(
        (rows) => rows.filter(([, state]) => state === "exporting").length,
      );
    await sweep();
    expect((await begun()).toSorted()).toEqual([0, 1, 1]);
    await sweep();
    expect((await begun()).toSorted()).toEqual([0, 1, 1]);
    for (let turns = 0; turns < 12; turns += 1) await turn();
    for (const each of organizers) expect((await erased(each)).toSorted()).toEqual(["one", "two"]);
  });

  it("[D9.8] does not wait for two that were requested more than an hour ago and do not end", async () => {
    const organizers = ["a", "b", "c"];
    service.peers.events = organizers.map((each) => ({ organizer: each, event, at: long }));
    for (const each of organizers) await set({ organizer: each });
    await untilDue();
    await sweep();
    await service.work();
    await sweep();
    const [{ cases }] = [(await count()) as { cases: number }];
    expect(cases).toBe(2);
    expect(await count()).toMatchObject({ exports: 2 });
    await db.run(sql`update shred_case set requested_at = now() - interval '2 hours'`);
    await sweep();
    expect(await count()).toMatchObject({ exports: 3 });
  });

  it("[D9.8] does not begin when two others have begun meanwhile", async () => {
    const organizers = ["a", "b", "c"];
    service.peers.events = organizers.map((each) => ({ organizer: each, event, at: long }));
    for (const each of organizers) await set({ organizer: each });
    await untilDue();
    service.peers.asking = async () => {
      service.peers.asking = undefined;
      await db.run(sql`
        update announced_erasure set export = gen_random_uuid(), due_at = now() where announced_erasure.organizer <> 'a'`);
    };
    await db.run(sql`update announced_erasure set due_at = '2020-01-01' where announced_erasure.organizer = 'a'`);
    await sweep();
    expect([await upcoming("a"), await count()]).toMatchObject([[[event, "due"]], { exports: 0 }]);
  });

  it("[D9.9] is tried again later when the event has changed since its export", async () => {
    service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    service.peers.holders.voucher.version = "2";
    await turn();
    await turn();
    expect([await upcoming(), await count()]).toEqual([[[event, "due"]], { exports: 1, cases: 1, requested: 0 }]);
    await db.run(sql`update announced_erasure set next_at = now()`);
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect([await erased(), await count()]).toEqual([[event], { exports: 2, cases: 2, requested: 1 }]);
  });

  it("[D9.9] is tried again later when its export has failed, or has expired", async () => {
    service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await sweep();
    await db.run(
      sql`update work set state = 'failed', turn = null, payload = null, due_at = now() + interval '1 hour'`,
    );
    await sweep();
    expect(await upcoming()).toEqual([[event, "due"]]);
    await sweep();
    expect(await count()).toMatchObject({ exports: 1 });
    await db.run(sql`update announced_erasure set next_at = now()`);
    await turn();
    await db.run(sql`delete from export`);
    await sweep();
    expect(await upcoming()).toEqual([[event, "due"]]);
  });

  it("[D9.9] does not wait for one that fails", async () => {
    service.peers.events = [
      { event: "a", at: long },
      { event: "b", at: long + 1 },
    ];
    await set();
    await untilDue();
    // Somebody else has filled the queue of exports of this organizer.
    await db.run(sql`
      insert into export (organizer, event, id, file, credential, kinds, instance)
      select 'bigevents', 'a', gen_random_uuid(), gen_random_uuid(), 'x', '{}', '' from generate_series(1, 21)`);
    await db.run(sql`
      insert into work (kind, id, owner, state, turn, most_tries, keep, payload)
      select 'export personal data', 'bigevents/a/' || export.id, 'bigevents', 'waiting', 1, 5, '2 hours',
             convert_to(json_build_object('organizer', 'bigevents', 'event', 'a', 'id', export.id)::text, 'UTF8')
        from export`);
    await sweep();
    expect(service.lines.filter((line) => line.includes("too_much_work"))).toHaveLength(2);
    expect(await upcoming()).toEqual([
      ["a", "due"],
      ["b", "due"],
    ]);
    const { tries } = await db.one<{ tries: number }>(
      sql`select sum(announced_erasure.tries) as tries from announced_erasure`,
    );
    expect(tries).toBe(2);
  });
});

describe("an erasure that has begun", () => {
  /** The states of the events of some organizers. */
  const states = async (organizers: readonly string[]) =>
    (await Promise.all(organizers.map((each) => upcoming(each)))).map((rows) => rows.map(([, state]) => state));

  it("[D9.8, D9.12] leaves room to others when its event is deleted, and an event of its name is announced for a week", async () => {
    const organizers = ["one", "two", "three"];
    service.peers.events = organizers.map((each, index) => ({ organizer: each, event, at: long + index }));
    for (const each of organizers) await set({ organizer: each });
    await untilDue();
    await turn();
    await sweep();
    expect(await states(organizers)).toEqual([["erasing"], ["erasing"], ["due"]]);
    // Boxoffice lists others under the same names.
    service.clock.at = systemClock.now();
    await service.deliver(topics.eventChanged, [`one/${event}/`, `two/${event}/`]);
    await service.work();
    await readAgain();
    await sweep();
    expect(await states(organizers)).toEqual([["announced"], ["announced"], ["exporting"]]);
    for (let turns = 0; turns < 4; turns += 1) await turn();
    expect(await states(organizers)).toEqual([["announced"], ["announced"], []]);
    expect([await erased("three"), await count()]).toEqual([[event], { exports: 1, cases: 3, requested: 1 }]);
    await pass(7);
    for (let turns = 0; turns < 4; turns += 1) await turn();
    expect([await erased("one"), await erased("two")]).toEqual([[event], [event]]);
  });

  it("[D9.9] is begun again later when its work has ended without its case", async () => {
    service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    await sweep();
    await db.run(sql`
      update work set state = 'failed', turn = null, payload = null, due_at = now() + interval '1 hour'
       where work.state = 'waiting'`);
    await sweep();
    expect(await upcoming()).toEqual([[event, "due"]]);
  });
});

describe("an organizer whose events cannot be read", () => {
  it("[D9.13] keeps nothing from being begun, and is read again five minutes later", async () => {
    const organizers = ["one", "two"];
    service.peers.events = [{ organizer: "one", event, at: long }];
    for (const each of organizers) await set({ organizer: each });
    await untilDue();
    service.peers.events.push({ organizer: "two", event, at: long }, { organizer: "one", event: "later", at: long });
    await db.run(sql`
      update retention
         set round_at = now() - make_interval(mins => case when retention.organizer = 'one' then 2 else 1 end)`);
    let failed = 0;
    service.peers.listing = async () => {
      service.peers.listing = undefined;
      failed += 1;
      throw new Error("the page of the first organizer fails");
    };
    await sweep();
    expect(failed).toBe(1);
    expect(await upcoming("one")).toEqual([[event, "exporting"]]);
    expect(await upcoming("two")).toEqual([[event, "announced"]]);
    expect(
      service.lines.filter((line) => line.includes("a step of retention failed") && line.includes('"organizer":"one"')),
    ).toHaveLength(1);
    await sweep();
    expect(await upcoming("one")).toEqual([[event, "exporting"]]);
    await db.run(sql`update retention set round_at = round_at - interval '5 minutes'`);
    await sweep();
    expect((await upcoming("one")).map(([name]) => name).toSorted()).toEqual(["later", event].toSorted());
  });

  it("[D9.13] is read at once when its setting changes meanwhile", async () => {
    service.peers.events = [{ event, at: long }];
    await set();
    service.peers.listing = async () => {
      service.peers.listing = undefined;
      await set({ days: 91 });
      throw new Error("the page fails");
    };
    await sweep();
    expect(await upcoming()).toEqual([[event, "announced"]]);
  });
});

describe("an event", () => {
  it("[D9.5] that is not ready is blocked, and asked again in an hour", async () => {
    service.peers.events = [{ event, at: long, problem: "It is online." }];
    await set();
    await untilDue();
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[[event, "blocked", "It is online."]], { exports: 0 }]);
    service.peers.events = [{ event, at: long }];
    await turn();
    expect(await upcoming()).toEqual([[event, "blocked", "It is online."]]);
    await db.run(sql`update announced_erasure set next_at = next_at - interval '1 hour'`);
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect(await erased()).toEqual([event]);
  });

  it("[D9.5] that goes online while it is exported is blocked", async () => {
    service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    service.peers.events = [{ event, at: long, problem: "It is online." }];
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[[event, "blocked", "It is online."]], { cases: 0 }]);
  });

  it("[D9.4] that moves is announced for its new end, also while it is exported", async () => {
    service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    service.peers.events = [{ event, at: long + 1 }];
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[[event, "announced"]], { exports: 0 }]);
    await pass(7);
    await turn();
    expect(await upcoming()).toEqual([[event, "exporting"]]);
    service.peers.events = [{ event, at: Date.now() * 1000 + 1e12 }];
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[], { exports: 1, cases: 0 }]);
  });

  it("[D9.9] that was erased by a person is not erased again, unless it has ended since, or less was erased", async () => {
    service.peers.events = [{ event, at: long }];
    await erase(["order_emails"]);
    await set();
    await sweep();
    expect(await upcoming()).toEqual([[event, "announced"]]);
    await erase([...kinds, "phone_numbers"]);
    await readAgain();
    await sweep();
    expect(await upcoming()).toEqual([]);
    await db.run(sql`update shred_case set requested_at = '2019-12-31'`);
    await readAgain();
    await sweep();
    expect(await upcoming()).toEqual([[event, "announced"]]);
  });

  it("[D9.4] that is deleted, or has no end, is not erased", async () => {
    service.peers.events = ["a", "b", "c", "d"].map((name) => ({ event: name, at: long }));
    await set();
    await untilDue();
    service.peers.events = [
      { event: "c", at: undefined },
      { event: "d", at: long, problem: "x" },
    ];
    await turn();
    expect(await upcoming()).toEqual([["d", "blocked", "x"]]);
  });

  it("[D9.2] is listed when it is due within a week, on pages by the time", async () => {
    const day = 86_400_000_000;
    const now = Date.now() * 1000;
    const ends = (days: number) => now - 90 * day + days * day;
    service.peers.events = [
      { event: "e", at: ends(7) + 3_600_000_000 },
      { event: "d", at: ends(2) - day },
      { event: "c", at: ends(20) },
      { event: "b", at: ends(5) },
      { event: "a", at: ends(6) },
    ];
    await set();
    await sweep();
    // What comes sooner than in a week is announced for a week, too.
    await db.run(sql`update announced_erasure set announced_at = now() - interval '7 days'`);
    await readAgain();
    await sweep();
    expect((await upcoming()).map(([name]) => name)).toEqual(["d", "b", "a"]);
    const list = (page: number) => service.retention.listUpcoming({ organizer, page, pageSize: 2 });
    expect((await list(1)).erasures.map((each) => each.event)).toEqual(["d", "b"]);
    expect(await list(0)).toMatchObject({ count: 3, page: 2, erasures: [{ event: "a" }] });
    await expect(list(3)).rejects.toMatchObject({ code: "page_not_found" });
  });
});

describe("a setting", () => {
  it("[D9.1] is off, until somebody sets it, and then as it was set", async () => {
    expect(await service.retention.findRetention({ organizer })).toEqual({ retention: undefined });
    service.peers.events = [{ event, at: long }];
    await sweep();
    expect(await upcoming()).toEqual([]);
    const { retention } = await set({ shredders: ["order_emails", "attendee_info", "order_emails"] });
    expect(retention).toEqual({ days: 90, shredders: kinds, changedAt: expect.any(Number) });
    expect(await service.retention.findRetention({ organizer })).toEqual({ retention });
    expect(await service.retention.findRetention({ organizer: "another" })).toEqual({ retention: undefined });
    expect(await set()).toEqual({ retention });
    await service.retention.endRetention({ organizer });
    await service.retention.endRetention({ organizer });
    expect(await service.retention.findRetention({ organizer })).toEqual({ retention: undefined });
  });

  it("[D9.3] that changes announces everything again, and the same one does not", async () => {
    service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await set();
    expect(await upcoming()).toEqual([[event, "due"]]);
    await set({ shredders: ["order_emails"] });
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[[event, "announced"]], { exports: 0 }]);
  });

  it.each(["ended", "changed"] as const)("[D9.6] that is %s stops what has not been asked of services", async (how) => {
    service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    await sweep();
    expect(await upcoming()).toEqual([[event, "erasing"]]);
    if (how === "ended") await service.retention.endRetention({ organizer });
    else await set({ days: 91 });
    await service.work();
    expect([service.peers.closed, await count()]).toEqual([[], { exports: 1, cases: 1, requested: 0 }]);
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect([await upcoming(), await erased()]).toEqual([how === "ended" ? [] : [[event, "announced"]], []]);
  });

  it("[D9.6] that is ended does not stop what has been asked of services", async () => {
    service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    service.peers.holders.voucher.erasure = undefined;
    await turn();
    expect(await count()).toMatchObject({ requested: 1 });
    await service.retention.endRetention({ organizer });
    service.peers.holders.voucher.erasure = service.peers.holders.checkin.erasure;
    await db.run(sql`update work set due_at = now() where work.state = 'waiting'`);
    await service.work();
    expect(await erased()).toEqual([event]);
    const found = await db.one<{ id: string; file: string }>(
      sql`select shred_case.id, shred_case.file from shred_case`,
    );
    const { state } = await service.shredders.findShred({
      ...{ ...place, credential: "retention", case: found.id, file: found.file },
    });
    expect(state).toBe(ShredState.SUCCEEDED);
  });

  it.each(["export", "case"] as const)("[D9.6] that is ended while boxoffice is asked begins no %s", async (what) => {
    service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    if (what === "case") await turn();
    service.peers.asking = async () => void (await service.retention.endRetention({ organizer }));
    await sweep();
    expect(await count()).toEqual({ exports: what === "case" ? 1 : 0, cases: 0, requested: 0 });
  });

  it("[D9.3] that changes while a page is read does not announce that page", async () => {
    service.peers.events = [{ event, at: long }];
    await set();
    service.peers.listing = async () => {
      service.peers.listing = undefined;
      await set({ days: 3650 });
    };
    await sweep();
    expect(await upcoming()).toEqual([]);
  });
});
