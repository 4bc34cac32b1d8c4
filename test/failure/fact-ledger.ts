import { setTimeout as sleep } from "node:timers/promises";
import { loadServices } from "@tessera/cli/services";
import { consumerName } from "@tessera/kit/bus/accept-facts";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { topics } from "@tessera/protos/topics";
import type { ArrivedFact, FactEvidence, WrittenFact } from "./check-facts.ts";

const quiet = createLog({ service: "test", destination: { write: () => {} } });

/** Opens the database as its administrator, who can read every schema. */
export function openAsAdministrator(url: string): Db {
  return openDatabase({ url, schema: "public", applicationName: "failure-test", log: quiet, maxConnections: 3 });
}

const schemas = ["boxoffice", "checkin", "gateway", "layout", "offline_sales", "shredder", "voucher"] as const;

/** Makes the database record every fact that is committed to an outbox, and every one that a consumer accepts. */
export async function keepLedger(db: Db): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`create schema ledger`);
    await tx.run(sql`
      create table ledger.written (fact_id uuid not null, topic text not null, key text not null,
                                   outbox_id bigint not null, payload bytea)`);
    await tx.run(sql`
      create table ledger.arrived (seq bigint generated always as identity, consumer text not null, fact_id uuid not null)`);
    await tx.run(sql`
      create function ledger.note_written() returns trigger language plpgsql security definer as $$
      begin
        insert into ledger.written (fact_id, topic, key, outbox_id, payload)
        select added.fact_id, added.topic, added.key, added.id,
               case when added.topic like 'checkin.%' then added.payload end
          from added
         where added.marker is null;
        return null;
      end $$`);
    await tx.run(sql`
      create function ledger.note_arrived() returns trigger language plpgsql security definer as $$
      begin
        insert into ledger.arrived (consumer, fact_id) select added.consumer, added.fact_id from added;
        return null;
      end $$`);
    for (const schema of schemas) {
      await tx.run(sql`
        create trigger note_written after insert on ${identifier(schema)}.outbox
        referencing new table as added for each statement execute function ledger.note_written()`);
      await tx.run(sql`
        create trigger note_arrived after insert on ${identifier(schema)}.inbox
        referencing new table as added for each statement execute function ledger.note_arrived()`);
    }
  });
}

/** Waits until all outboxes are empty; returns how many facts are left after the time-out. */
export async function waitForEmptyOutboxes(db: Db, withinMs: number): Promise<number> {
  for (const until = performance.now() + withinMs; ; await sleep(50)) {
    const { count } = await db.one<{ count: number }>(sql`
      select (select count(*) from boxoffice.outbox) + (select count(*) from checkin.outbox)
             + (select count(*) from gateway.outbox) + (select count(*) from layout.outbox)
             + (select count(*) from offline_sales.outbox)
             + (select count(*) from shredder.outbox)
             + (select count(*) from voucher.outbox) as count`);
    if (count === 0 || performance.now() > until) return count;
  }
}

/** Reads the ledger. */
export async function readLedger(db: Db, { waiting }: { waiting: number }): Promise<FactEvidence> {
  const written = await db.many<WrittenFact>(sql`
    select written.fact_id as id, written.topic, written.key, written.outbox_id as place
      from ledger.written
     order by written.outbox_id`);
  const arrived = await db.many<ArrivedFact>(sql`
    select arrived.fact_id as id, arrived.consumer
      from ledger.arrived
     order by arrived.seq`);
  return { written, arrived, consumers: await findConsumers(), waiting };
}

/** The ids of published scans, once per fact. */
export async function readToldScans(db: Db): Promise<number[]> {
  const rows = await db.many<{ payload: Buffer }>(sql`
    select written.payload from ledger.written where written.topic = ${topics.scanDecided.name}`);
  return rows.map(({ payload }) => topics.scanDecided.decode(payload).scan);
}

export interface Parked {
  readonly consumer: string;
  readonly key: string;
  readonly factId: string;
  readonly cause: string;
}

/** Reads the dead letters of every schema. */
export async function readParked(db: Db): Promise<Parked[]> {
  return db.many<Parked>(sql`
    select parked.consumer, parked.key, parked.fact_id as "factId", parked.cause
      from (select consumer, key, fact_id, cause from boxoffice.dead_letter
             union all
            select consumer, key, fact_id, cause from checkin.dead_letter
             union all
            select consumer, key, fact_id, cause from gateway.dead_letter
             union all
            select consumer, key, fact_id, cause from layout.dead_letter
             union all
            select consumer, key, fact_id, cause from offline_sales.dead_letter
             union all
            select consumer, key, fact_id, cause from shredder.dead_letter
             union all
            select consumer, key, fact_id, cause from voucher.dead_letter) as parked
     order by parked.consumer, parked.key`);
}

async function findConsumers(): Promise<Map<string, string[]>> {
  const definitions = await loadServices(["all"]);
  const pairs = definitions.flatMap(({ name, consumes }) => consumes.map((topic) => ({ topic, name })));
  const byTopic = Map.groupBy(pairs, ({ topic }) => topic);
  return new Map([...byTopic].map(([topic, all]) => [topic, all.map(({ name }) => consumerName(name, topic))]));
}

/** Removes arrivals of facts that were never committed: a test has published them to the bus by itself. */
export async function forgetArrivals(db: Db, factIds: readonly string[]): Promise<void> {
  await db.run(sql`delete from ledger.arrived where arrived.fact_id = any(${factIds}::uuid[])`);
}

/** How many facts a service has recorded so far, and how many of a topic are still on their way to it. */
export async function countFacts(
  db: Db,
  { service, topic }: { readonly service: string; readonly topic: string },
): Promise<{ arrived: number; waiting: number }> {
  return db.one(sql`
    select (select count(*) from ledger.arrived where starts_with(arrived.consumer, ${`${service} `})) as arrived,
           (select count(*)
              from ledger.written
             where written.topic = ${topic}
               and not exists (select
                                 from ledger.arrived
                                where arrived.fact_id = written.fact_id
                                  and arrived.consumer = ${consumerName(service, topic)})) as waiting`);
}
