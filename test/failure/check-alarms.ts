import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";

interface StoredAlarm {
  readonly id: number;
  readonly list: number | null;
  readonly kind: string;
  readonly raisedAt: number;
  readonly endedAt: number | null;
}

/** Several rounds of the job that raises alarms, on a busy machine. */
const patienceMs = 120_000;

/**
 * Each change of an alarm has exactly one fact, in their order, and a list with a limit has an open alarm while its persons are near
 * it. Returns each contradiction.
 */
export async function checkAlarms(db: Db, { limited }: { readonly limited: number }): Promise<string[]> {
  const { persons } = await db.one<{ persons: number }>(sql`
    select coalesce(sum(persons_inside.persons), 0)::bigint as persons
      from checkin.persons_inside
     where persons_inside.list = ${limited}`);
  // Its limit is one.
  const expected = persons > 0 ? 1 : 0;
  for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(200)) {
    if (findOpen(await readAlarms(db), limited).length === expected) break;
  }
  return db.transaction(async (tx) => {
    // Alarms and facts of one moment.
    await tx.run(sql`set transaction isolation level repeatable read`);
    const alarms = await readAlarms(tx);
    const facts = Map.groupBy(await readFacts(tx), ({ id }) => id);
    const { length: open } = findOpen(alarms, limited);
    return [
      ...(open === expected ? [] : [`list ${limited} needs ${expected} open alarms of its limit, and has ${open}`]),
      ...[...facts.keys()]
        .filter((id) => !alarms.some((alarm) => alarm.id === id))
        .map((id) => `alarm ${id} has a fact and is not stored`),
      ...alarms.flatMap(({ id, raisedAt, endedAt }) => {
        const told = (facts.get(id) ?? []).map((fact) => [fact.raisedAt, fact.endedAt ?? null]);
        const changes = [[raisedAt, null], ...(endedAt === null ? [] : [[raisedAt, endedAt]])];
        return JSON.stringify(told) === JSON.stringify(changes)
          ? []
          : [`alarm ${id} went through ${JSON.stringify(changes)}, its facts through ${JSON.stringify(told)}`];
      }),
    ];
  });
}

const findOpen = (alarms: readonly StoredAlarm[], limited: number) =>
  alarms.filter(({ kind, list, endedAt }) => kind === "limit_near" && list === limited && endedAt === null);

const readAlarms = (db: Pick<Db, "many">) =>
  db.many<StoredAlarm>(sql`
    select alarm.id, alarm.list, alarm.kind, alarm.raised_at as "raisedAt", alarm.ended_at as "endedAt"
      from checkin.alarm
     order by alarm.id`);

async function readFacts(db: Pick<Db, "many">) {
  const rows = await db.many<{ payload: Buffer }>(sql`
    select written.payload
      from ledger.written
     where written.topic = ${topics.alarmChanged.name}
     order by written.outbox_id`);
  return rows.map(({ payload }) => topics.alarmChanged.decode(payload));
}
