import { systemClock } from "@tessera/kit/clock";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { describe, expect, it } from "vitest";
import { event, kinds, long, organizer, retainingShredder } from "../testing/retaining-shredder.ts";

const shredder = retainingShredder();
const { count, erase, erased, pass, readAgain, set, sweep, turn, untilDue, upcoming } = shredder;

describe("an event", () => {
  it("[D9.5] that is not ready is blocked, and asked again in an hour", async () => {
    shredder.service.peers.events = [{ event, at: long, problem: "It is online." }];
    await set();
    await untilDue();
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[[event, "blocked", "It is online."]], { exports: 0 }]);
    shredder.service.peers.events = [{ event, at: long }];
    await turn();
    expect(await upcoming()).toEqual([[event, "blocked", "It is online."]]);
    await shredder.db.run(sql`update announced_erasure set next_at = next_at - interval '1 hour'`);
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect(await erased()).toEqual([event]);
  });

  it("[D9.5] that goes online while it is exported is blocked", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    shredder.service.peers.events = [{ event, at: long, problem: "It is online." }];
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[[event, "blocked", "It is online."]], { cases: 0 }]);
  });

  it("[D9.4] that moves is announced for its new end, also while it is exported", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    shredder.service.peers.events = [{ event, at: long + 1 }];
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[[event, "announced"]], { exports: 0 }]);
    await pass(7);
    await turn();
    expect(await upcoming()).toEqual([[event, "exporting"]]);
    shredder.service.peers.events = [{ event, at: Date.now() * 1000 + 1e12 }];
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[], { exports: 1, cases: 0 }]);
  });

  it("[D9.9] that was erased by a person is not erased again, unless it has ended since, or less was erased", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await erase(["order_emails"]);
    await set();
    await sweep();
    expect(await upcoming()).toEqual([[event, "announced"]]);
    await erase([...kinds, "phone_numbers"]);
    await readAgain();
    await sweep();
    expect(await upcoming()).toEqual([]);
    await shredder.db.run(sql`update shred_case set requested_at = '2019-12-31'`);
    await readAgain();
    await sweep();
    expect(await upcoming()).toEqual([[event, "announced"]]);
  });

  it("[D9.4] that is deleted, or has no end, is not erased", async () => {
    shredder.service.peers.events = ["a", "b", "c", "d"].map((name) => ({ event: name, at: long }));
    await set();
    await untilDue();
    shredder.service.peers.events = [
      { event: "c", at: undefined },
      { event: "d", at: long, problem: "x" },
    ];
    await turn();
    expect(await upcoming()).toEqual([["d", "blocked", "x"]]);
  });

  it("[D9.12] that gets the name of a deleted one is announced by itself, for a week", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await sweep();
    await pass(6);
    shredder.service.clock.at = systemClock.now();
    await shredder.service.deliver(topics.eventChanged, [`${organizer}/${event}/`]);
    expect(await upcoming()).toEqual([]);
    await readAgain();
    await sweep();
    // A rebuild tells the deletion again.
    await shredder.service.deliver(topics.eventChanged, [`${organizer}/${event}/`]);
    await pass(1);
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[[event, "announced"]], { exports: 0 }]);
    await pass(6);
    await turn();
    expect(await upcoming()).toEqual([[event, "exporting"]]);
  });

  it("[D9.2] is listed when it is due within a week, on pages by the time", async () => {
    const day = 86_400_000_000;
    const now = Date.now() * 1000;
    const ends = (days: number) => now - 90 * day + days * day;
    shredder.service.peers.events = [
      { event: "e", at: ends(7) + 3_600_000_000 },
      { event: "d", at: ends(2) - day },
      { event: "c", at: ends(20) },
      { event: "b", at: ends(5) },
      { event: "a", at: ends(6) },
    ];
    await set();
    await sweep();
    // What comes sooner than in a week is announced for a week, too.
    await shredder.db.run(sql`update announced_erasure set announced_at = now() - interval '7 days'`);
    await readAgain();
    await sweep();
    expect((await upcoming()).map(([name]) => name)).toEqual(["d", "b", "a"]);
    const list = (page: number) => shredder.service.retention.listUpcoming({ organizer, page, pageSize: 2 });
    expect((await list(1)).erasures.map((each) => each.event)).toEqual(["d", "b"]);
    expect(await list(0)).toMatchObject({ count: 3, page: 2, erasures: [{ event: "a" }] });
    await expect(list(3)).rejects.toMatchObject({ code: "page_not_found" });
  });
});

describe("an organizer whose events cannot be read", () => {
  it("[D9.13] keeps nothing from being begun, and is read again five minutes later", async () => {
    const organizers = ["one", "two"];
    shredder.service.peers.events = [{ organizer: "one", event, at: long }];
    for (const each of organizers) await set({ organizer: each });
    await untilDue();
    shredder.service.peers.events.push(
      { organizer: "two", event, at: long },
      { organizer: "one", event: "later", at: long },
    );
    await shredder.db.run(sql`
      update retention
         set round_at = now() - make_interval(mins => case when retention.organizer = 'one' then 2 else 1 end)`);
    let failed = 0;
    shredder.service.peers.listing = async () => {
      shredder.service.peers.listing = undefined;
      failed += 1;
      throw new Error("the page of the first organizer fails");
    };
    await sweep();
    expect(failed).toBe(1);
    expect(await upcoming("one")).toEqual([[event, "exporting"]]);
    expect(await upcoming("two")).toEqual([[event, "announced"]]);
    expect(
      shredder.service.lines.filter(
        (line) => line.includes("a step of retention failed") && line.includes('"organizer":"one"'),
      ),
    ).toHaveLength(1);
    await sweep();
    expect(await upcoming("one")).toEqual([[event, "exporting"]]);
    await shredder.db.run(sql`update retention set round_at = round_at - interval '5 minutes'`);
    await sweep();
    expect((await upcoming("one")).map(([name]) => name).toSorted()).toEqual(["later", event].toSorted());
  });

  it("[D9.13] is read at once when its setting changes meanwhile", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    shredder.service.peers.listing = async () => {
      shredder.service.peers.listing = undefined;
      await set({ days: 91 });
      throw new Error("the page fails");
    };
    await sweep();
    expect(await upcoming()).toEqual([[event, "announced"]]);
  });
});
