import { systemClock } from "@tessera/kit/clock";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { describe, expect, it } from "vitest";
import { event, instance, kinds, long, organizer, retainingShredder } from "../testing/retaining-shredder.ts";
import { mine, place } from "../testing/start-shredder.ts";

const shredder = retainingShredder();
const { count, erased, pass, readAgain, set, sweep, turn, untilDue, upcoming } = shredder;

describe("an erasure that retention makes", () => {
  it("[D9.2, D9.5, D9.10] is announced for a week, and then exported, erased and certified", async () => {
    shredder.service.peers.events = [{ event, at: long }];
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
    await shredder.service.work();
    await sweep();
    expect(await upcoming()).toEqual([[event, "erasing"]]);
    await shredder.service.work();
    await sweep();
    expect([await upcoming(), await erased()]).toEqual([[], [event]]);
    const { erasures } = await shredder.service.retention.listErased({ organizer, page: 1, pageSize: 50 });
    const { statement } = await shredder.service.shredders.getCertificate({ ...place, case: erasures[0]?.case ?? "" });
    expect(JSON.parse(Buffer.from(statement).toString())).toMatchObject({ event, shredders: kinds, instance });
    await readAgain();
    await turn();
    expect([await upcoming(), await count()]).toEqual([[], { exports: 1, cases: 1, requested: 1 }]);
  });

  it("[D9.6] cannot be found by a key", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    const { export: id, file } = await shredder.db.one<{ export: string; file: string }>(
      sql`select export.id as export, export.file from export`,
    );
    await expect(shredder.service.shredders.findExport({ ...mine, export: id, file })).rejects.toMatchObject({
      code: "export_not_found",
    });
  });

  it("[D9.7] is begun twice by no kill, and lost by none", async () => {
    /** Ends the work that is there, as workers do. */
    const finish = async () => {
      await shredder.db.run(sql`
        update work set state = 'succeeded', turn = null, due_at = now() + work.keep, payload = null, result = ''
         where work.state = 'waiting'`);
      await shredder.db.run(sql`update export set file_key = export.id::text, sha256 = ''`);
      await shredder.db.run(sql`update shred_case set requested_at = now(), erased_at = now()`);
    };
    let kills = 0;
    for (let at = 1; kills === at - 1; at += 1) {
      await shredder.service.reset();
      shredder.service.peers.events = [{ event, at: long }];
      await set();
      shredder.life.begin({ endsAt: at });
      const surely = async () => {
        await sweep().catch((error: unknown) => {
          if (!shredder.life.isOver()) throw error;
        });
        if (!shredder.life.isOver()) return;
        kills += 1;
        shredder.life.begin();
        await sweep();
      };
      await surely();
      await pass(7);
      for (let turns = 0; turns < 3; turns += 1) {
        await surely();
        await finish();
      }
      shredder.life.begin();
      expect([at, await upcoming(), await erased(), await count()]).toEqual([
        ...[at, [], [event]],
        { exports: 1, cases: 1, requested: 1 },
      ]);
    }
    expect(kills).toBeGreaterThan(25);
  });

  it("[D9.7] is begun once by many sweeps at the same time", async () => {
    shredder.service.peers.events = Array.from({ length: 5 }, (_, index) => ({
      event: `event-${index}`,
      at: long + index,
    }));
    await set();
    await Promise.all(Array.from({ length: 4 }, sweep));
    await pass(7);
    for (let turns = 0; turns < 16; turns += 1) {
      await Promise.all(Array.from({ length: 3 }, sweep));
      expect(
        (await upcoming()).filter(([, state]) => state === "exporting" || state === "erasing").length,
      ).toBeLessThan(2);
      await shredder.service.work();
    }
    expect([await upcoming(), await count()]).toEqual([[], { exports: 5, cases: 5, requested: 5 }]);
  });

  it("[D9.8] is one of two at a time, and the only one of its organizer", async () => {
    const organizers = ["a", "b", "c"];
    shredder.service.peers.events = organizers.flatMap((each) =>
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
    shredder.service.peers.events = organizers.map((each) => ({ organizer: each, event, at: long }));
    for (const each of organizers) await set({ organizer: each });
    await untilDue();
    await sweep();
    await shredder.service.work();
    await sweep();
    const [{ cases }] = [(await count()) as { cases: number }];
    expect(cases).toBe(2);
    expect(await count()).toMatchObject({ exports: 2 });
    await shredder.db.run(sql`update shred_case set requested_at = now() - interval '2 hours'`);
    await sweep();
    expect(await count()).toMatchObject({ exports: 3 });
  });

  it("[D9.8] does not begin when two others have begun meanwhile", async () => {
    const organizers = ["a", "b", "c"];
    shredder.service.peers.events = organizers.map((each) => ({ organizer: each, event, at: long }));
    for (const each of organizers) await set({ organizer: each });
    await untilDue();
    shredder.service.peers.asking = async () => {
      shredder.service.peers.asking = undefined;
      await shredder.db.run(sql`
        update announced_erasure set export = gen_random_uuid(), due_at = now() where announced_erasure.organizer <> 'a'`);
    };
    await shredder.db.run(
      sql`update announced_erasure set due_at = '2020-01-01' where announced_erasure.organizer = 'a'`,
    );
    await sweep();
    expect([await upcoming("a"), await count()]).toMatchObject([[[event, "due"]], { exports: 0 }]);
  });

  it("[D9.9] is tried again later when the event has changed since its export", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    shredder.service.peers.holders.voucher.version = "2";
    await turn();
    await turn();
    expect([await upcoming(), await count()]).toEqual([[[event, "due"]], { exports: 1, cases: 1, requested: 0 }]);
    await shredder.db.run(sql`update announced_erasure set next_at = now()`);
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect([await erased(), await count()]).toEqual([[event], { exports: 2, cases: 2, requested: 1 }]);
  });

  it("[D9.9] is tried again later when its export has failed, or has expired", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await sweep();
    await shredder.db.run(
      sql`update work set state = 'failed', turn = null, payload = null, due_at = now() + interval '1 hour'`,
    );
    await sweep();
    expect(await upcoming()).toEqual([[event, "due"]]);
    await sweep();
    expect(await count()).toMatchObject({ exports: 1 });
    await shredder.db.run(sql`update announced_erasure set next_at = now()`);
    await turn();
    await shredder.db.run(sql`delete from export`);
    await sweep();
    expect(await upcoming()).toEqual([[event, "due"]]);
  });

  it("[D9.9] does not wait for one that fails", async () => {
    shredder.service.peers.events = [
      { event: "a", at: long },
      { event: "b", at: long + 1 },
    ];
    await set();
    await untilDue();
    // Somebody else has filled the queue of exports of this organizer.
    await shredder.db.run(sql`
      insert into export (organizer, event, id, file, credential, kinds, instance)
      select 'bigevents', 'a', gen_random_uuid(), gen_random_uuid(), 'x', '{}', '' from generate_series(1, 21)`);
    await shredder.db.run(sql`
      insert into work (kind, id, owner, state, turn, most_tries, keep, payload)
      select 'export personal data', 'bigevents/a/' || export.id, 'bigevents', 'waiting', 1, 5, '2 hours',
             convert_to(json_build_object('organizer', 'bigevents', 'event', 'a', 'id', export.id)::text, 'UTF8')
        from export`);
    await sweep();
    expect(shredder.service.lines.filter((line) => line.includes("too_much_work"))).toHaveLength(2);
    expect(await upcoming()).toEqual([
      ["a", "due"],
      ["b", "due"],
    ]);
    const { tries } = await shredder.db.one<{ tries: number }>(
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
    shredder.service.peers.events = organizers.map((each, index) => ({ organizer: each, event, at: long + index }));
    for (const each of organizers) await set({ organizer: each });
    await untilDue();
    await turn();
    await sweep();
    expect(await states(organizers)).toEqual([["erasing"], ["erasing"], ["due"]]);
    // Boxoffice lists others under the same names.
    shredder.service.clock.at = systemClock.now();
    await shredder.service.deliver(topics.eventChanged, [`one/${event}/`, `two/${event}/`]);
    await shredder.service.work();
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
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    await sweep();
    await shredder.db.run(sql`
      update work set state = 'failed', turn = null, payload = null, due_at = now() + interval '1 hour'
       where work.state = 'waiting'`);
    await sweep();
    expect(await upcoming()).toEqual([[event, "due"]]);
  });
});
