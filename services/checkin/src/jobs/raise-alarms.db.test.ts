import type { Db } from "@tessera/kit/pg/database";
import { shareReads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, minute, noon, place } from "../testing/facts.ts";
import { readAlarmFacts, type StoredScans, storePastScans } from "../testing/past-scans.ts";
import { startCheckin } from "../testing/start-checkin.ts";
import { raiseAlarms } from "./raise-alarms.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const second = 1_000_000;
/** What a process remembers of scans does not outlive a test. */
let replica: ReturnType<typeof rival>;

beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact(), eventFact({ event: "other" })]);
  replica = rival();
});

const store = (scans: Partial<StoredScans> = {}) => storePastScans(db, { until: noon - 70 * second, ...scans });
const run = () => replica.run();
const stored = () =>
  db.many<{ event: string; kind: string; gate: number | null; device: number | null; open: boolean }>(sql`
    select alarm.event, alarm.kind, alarm.gate, alarm.device, alarm.ended_at is null as open
      from alarm
     order by alarm.id`);
const silent = { event: place.event, kind: "gate_silent", gate: 1, device: null };

/** Another replica, which believes to hold the lock. */
function rival(changes: Partial<Db> = {}) {
  const metrics = createMetrics();
  const dedicated = async () => {
    const connection = await db.dedicated();
    return { ...connection, one: async <Row>() => ({ leads: true }) as Row };
  };
  const job = raiseAlarms({
    db: { ...db, dedicated, ...changes },
    reads: shareReads(db),
    clock: checkin.clock,
    metrics,
  });
  return { metrics, run: () => job.run(new AbortController().signal) };
}

describe("the job of alarms", () => {
  it("[B4.1, B4.7] raises an alarm once, ends it once, and publishes both", async () => {
    await store();
    await run();
    await run();
    expect(await stored()).toEqual([{ ...silent, open: true }]);
    checkin.clock.at += 10 * second;
    await store({ until: checkin.clock.at, count: 1 });
    await run();
    await run();
    expect(await stored()).toEqual([{ ...silent, open: false }]);
    const facts = await readAlarmFacts(db);
    expect(facts).toMatchObject([
      { ...place, kind: "gate_silent", gate: 1, endedAt: undefined },
      { ...place, kind: "gate_silent", gate: 1, endedAt: expect.any(Number) },
    ]);
    expect(new Set(facts.map(({ fact }) => fact)).size).toBe(2);
    expect(facts[0]?.device).toBeUndefined();
  });

  it("[B4.7] raises each alarm once, however many replicas look at the same time", async () => {
    await store();
    await store({ gate: 2, device: 8, refused: true, until: noon, count: 30 });
    await Promise.all(Array.from({ length: 6 }, () => rival().run()));
    expect((await stored()).map(({ kind, gate }) => [kind, gate]).toSorted()).toEqual([
      ["gate_silent", 1],
      ["refusals_rose", 2],
    ]);
    expect(await readAlarmFacts(db)).toHaveLength(2);
    await store({ until: noon, count: 1 });
    await Promise.all(Array.from({ length: 6 }, () => rival().run()));
    expect(await readAlarmFacts(db)).toHaveLength(3);
  });

  it("[B4.7] stores an alarm with its fact or not at all, wherever it is killed", async () => {
    await store();
    for (let survived = 0; ; survived += 1) {
      let statements = 0;
      const die = () => {
        if (statements++ === survived) throw new Error("killed");
      };
      const killed = rival({
        transaction: (work) =>
          db.transaction(async (tx) => {
            const result = await work({
              ...tx,
              async many(statement) {
                die();
                return tx.many(statement);
              },
              async run(statement) {
                die();
                return tx.run(statement);
              },
            });
            die();
            return result;
          }),
      });
      const end = await killed.run().then(
        () => undefined,
        (error: Error) => error.message,
      );
      expect((await readAlarmFacts(db)).length).toBe((await stored()).length);
      if (end === undefined) break;
      expect(await stored()).toEqual([]);
    }
    expect(await stored()).toHaveLength(1);
  });

  it("[B4.7] decides each event by its own scans, and goes on when one fails", async () => {
    await store();
    await store({ event: "other", until: noon, refused: true, count: 30 });
    const failing = rival({
      transaction: (work) =>
        db.transaction((tx) =>
          work({
            ...tx,
            async many(statement) {
              if (statement.values.includes("other")) throw new Error("broken");
              return tx.many(statement);
            },
          }),
        ),
    });
    await expect(failing.run()).rejects.toThrow("broken");
    expect(await stored()).toEqual([{ ...silent, open: true }]);
    await run();
    expect(await stored()).toMatchObject([{ event: place.event }, { event: "other", kind: "refusals_rose" }]);
  });

  it("[B4.1, B4.7] ends the alarms of an event that has no more scans", async () => {
    await store();
    await run();
    checkin.clock.at += 30 * minute;
    await run();
    expect(await stored()).toEqual([{ ...silent, open: false }]);
  });

  it("[B4.7] reads on where it has read, and what was stored late as well", async () => {
    await store({ until: noon - 30 * second });
    await run();
    for (let turn = 1; turn <= 6; turn += 1) {
      checkin.clock.at += 10 * second;
      await run();
    }
    expect(await stored()).toEqual([{ ...silent, open: true }]);
    // A batch of a device that had no network, made in the last two minutes.
    await store({ until: checkin.clock.at - 5 * second, count: 20 });
    await run();
    expect(await stored()).toEqual([{ ...silent, open: false }]);
  });

  it("[B4.4] tells of a clock that is ahead, and not of scans made elsewhere or by the platform", async () => {
    await store({ until: noon, count: 5, ahead: 90 });
    await run();
    expect(await stored()).toEqual([{ event: place.event, kind: "clock_off", gate: null, device: 7, open: true }]);
    await db.run(sql`delete from alarm`);
    await db.run(sql`update scan set imported_id = scan.id`);
    await rival().run();
    await db.run(sql`update scan set imported_id = null, auto_checked_in = true`);
    await rival().run();
    expect(await stored()).toEqual([]);
  });

  it("[B4.5] tells of the queue of a device at the active events that it is for", async () => {
    for (const event of [place.event, "other"]) await store({ event, until: noon, every: 60, count: 3 });
    await checkin.deliver(topics.eventChanged, [eventFact({ event: "quiet" })]);
    const tell = (queue: number, slugs?: string[]) =>
      checkin.alarms.noteQueues({
        devices: [{ organizer: place.organizer, device: 9, queue, ...(slugs && { events: { slugs } }) }],
      });
    const past = (seconds: number) =>
      db.run(sql`update device_queue set told_at = told_at - make_interval(secs => ${seconds})`);
    await tell(10, ["other", "quiet"]);
    await past(61);
    await tell(12, ["other", "quiet"]);
    // Queues are told by the clock of the database.
    await db.run(sql`
      update device_queue
         set told_at = told_at - (select max(told.told_at) from device_queue as told) + to_timestamp(${noon / second})`);
    await run();
    const queue = { kind: "queue_grows", gate: null, device: 9 };
    expect(await stored()).toEqual([{ ...queue, event: "other", open: true }]);
    await checkin.alarms.noteQueues({ devices: [] });
    await run();
    expect(await stored()).toEqual([{ ...queue, event: "other", open: false }]);
  });

  it("[B4.8] deletes alarms 30 days after their end", async () => {
    await store();
    await run();
    await db.run(sql`
      insert into alarm (organizer, event, kind, gate, raised_at, ended_at)
      select ${place.organizer}, ${place.event}, 'rate_fell', days, now() - interval '60 days', now() - make_interval(days => days)
        from generate_series(29, 31) as days`);
    await run();
    expect((await stored()).map(({ gate }) => gate)).toEqual([1, 29]);
  });

  it("[B4.8] loses the alarms of a deleted event with it: another one may get its name", async () => {
    await store();
    await store({ event: "other" });
    await run();
    const key = `${place.organizer}/${place.event}/`;
    await checkin.deliver(topics.eventChanged, [key], { deletedAt: 2 });
    expect(await stored()).toEqual([{ ...silent, event: "other", open: true }]);
  });

  it("shows how many hold, and how many no one has acknowledged", async () => {
    await store();
    await store({ event: "other" });
    const process = rival();
    await process.run();
    const { alarms } = await checkin.alarms.listAlarms({ ...place, page: 1, pageSize: 50 });
    await checkin.alarms.acknowledgeAlarm({ ...place, id: alarms[0]?.id ?? 0, by: "Ann" });
    await process.run();
    const text = await process.metrics.exposition();
    expect(text).toContain('tessera_checkin_alarms_open{kind="gate_silent"} 2');
    expect(text).toContain('tessera_checkin_alarms_unacknowledged{kind="gate_silent"} 1');
    expect(text).toContain('tessera_checkin_alarms_open{kind="clock_off"} 0');
  });
});
