import type { Clock } from "../clock.ts";
import type { Db } from "../pg/database.ts";
import { identifier, literal, sql } from "../pg/sql.ts";
import { toTimestamp } from "../pg/instants.ts";

/** Longer than any topic with a limit keeps its facts, so that a replay still meets its own rows. */
const inboxDays = 45;

const dayMicros = 86_400_000_000;

/** Creates the inbox partitions of the coming days, drops those past their time, and forgets old markers. */
export async function keepFactTables(db: Db, clock: Clock): Promise<void> {
  const today = Math.floor(clock.now() / dayMicros) * dayMicros;
  for (let day = 0; day <= 3; day += 1) await createPartition(db, today + day * dayMicros);
  const oldest = toTimestamp(today - inboxDays * dayMicros).slice(0, 10);
  const old = await db.many<{ name: string }>(sql`
    select child.relname as name
      from pg_inherits
      join pg_class as child on child.oid = pg_inherits.inhrelid
     where pg_inherits.inhparent = 'inbox'::regclass
       and child.relname like 'inbox\\_2%'
       and child.relname < ${`inbox_${oldest.replaceAll("-", "")}`}`);
  for (const { name } of old) await db.run(sql`drop table if exists ${identifier(name)}`);
  await db.run(sql`delete from inbox_other where inbox_other.fact_on < ${oldest}::date`);
  await db.run(sql`delete from passed_marker where passed_marker.passed_at < ${toTimestamp(clock.now() - dayMicros)}::timestamptz`);
}

async function createPartition(db: Db, from: number): Promise<void> {
  const day = toTimestamp(from).slice(0, 10);
  const next = toTimestamp(from + dayMicros).slice(0, 10);
  const name = `inbox_${day.replaceAll("-", "")}`;
  await db.transaction(async (tx) => {
    // Two replicas keep one schema's tables; the second waits and then finds the partition there.
    await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`tessera inbox ${db.schema}`}, 0))`);
    const { present } = await tx.one<{ present: boolean }>(sql`select to_regclass(${name}) is not null as present`);
    if (present) return;
    await tx.run(sql`create table ${identifier(name)} partition of inbox for values from (${literal(day)}) to (${literal(next)})`);
  });
}
