import { memoryBus } from "@tessera/engines/memory-bus";
import { rebuildTopics } from "@tessera/kit/bus/rebuild-topics";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { topics } from "@tessera/protos/topics";
import { expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, noon, place } from "../testing/facts.ts";
import { readAlarmFacts, storePastScans } from "../testing/past-scans.ts";
import { startCheckin } from "../testing/start-checkin.ts";
import { rebuildAlarms } from "./rebuild-alarms.ts";

const { db } = await checkinDatabase();

it("[B4.12] the newest state of each alarm is published again, with the id and the time that it had", async () => {
  const checkin = await startCheckin(db);
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  for (const gate of [1, 2, 3]) await storePastScans(db, { gate, device: gate, until: noon - 70_000_000 });
  await checkin.runJob("raise-alarms");
  const [first] = (await checkin.alarms.listAlarms({ ...place, page: 1, pageSize: 50 })).alarms;
  await checkin.alarms.acknowledgeAlarm({ ...place, id: first?.id ?? 0, by: "Ann" });
  await storePastScans(db, { gate: 2, device: 2, until: noon, count: 1 });
  await checkin.runJob("raise-alarms");

  const times = () =>
    db.many<{ fact: string; at: number }>(sql`
      select outbox.fact_id as fact,
             coalesce((outbox.headers ->> 'fact-at')::bigint, (extract(epoch from outbox.created_at) * 1000000)::bigint) as at
        from outbox
       where outbox.topic = ${topics.alarmChanged.name} and outbox.marker is null`);
  const before = await readAlarmFacts(db);
  expect(before).toHaveLength(5);
  const timesBefore = await times();
  const newest = new Map(before.map((fact) => [fact.id, fact]));
  await db.run(sql`delete from outbox`);
  await db.run(sql`insert into rebuild (topic) values (${topics.alarmChanged.name})`);
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const job = rebuildTopics({ db, bus: memoryBus([]), rebuilds: [rebuildAlarms], log, batchSize: 2 });
  await job.run(new AbortController().signal);
  await db.run(sql`delete from outbox where outbox.marker is not null`);
  expect(await readAlarmFacts(db)).toEqual([...newest.values()].toSorted((one, other) => one.id - other.id));
  for (const time of await times()) expect(timesBefore).toContainEqual(time);
});
