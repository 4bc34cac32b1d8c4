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
 * Each change of an alarm has exactly one fact, in their order, and a list whose persons are near its limit has an open alarm. Returns
 * each contradiction.
 */
export async function checkAlarms(db: Db, { nearLimit }: { readonly nearLimit: number }): Promise<string[]> {
  for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(200)) {
    const open = (await readAlarms(db)).filter(({ endedAt }) => endedAt === null);
    if (open.some(({ kind, list }) => kind === "limit_near" && list === nearLimit)) break;
  }
  return db.transaction(async (tx) => {
    // Alarms and facts of one moment.
    await tx.run(sql`set transaction isolation level repeatable read`);
    const alarms = await readAlarms(tx);
    const facts = Map.groupBy(await readFacts(tx), ({ id }) => id);
    const near = alarms.filter(
      ({ kind, list, endedAt }) => kind === "limit_near" && list === nearLimit && endedAt === null,
    );
    return [
      ...(near.length === 1 ? [] : [`list ${nearLimit} is near its limit, and has ${near.length} open alarms of it`]),
      ...[...facts.keys()]
        .filter((id) => !alarms.some((alarm) => alarm.id === id))
        .map((id) => `alarm ${id} has a fact and is not stored`),
      ...alarms.flatMap(({ id, raisedAt, endedAt }) => {
        const told = (facts.get(id) ?? []).map((fact) => [fact.raisedAt, fact.endedAt ?? null]);
        const expected = [[raisedAt, null], ...(endedAt === null ? [] : [[raisedAt, endedAt]])];
        return JSON.stringify(told) === JSON.stringify(expected)
          ? []
          : [`alarm ${id} went through ${JSON.stringify(expected)}, its facts through ${JSON.stringify(told)}`];
      }),
    ];
  });
}

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
