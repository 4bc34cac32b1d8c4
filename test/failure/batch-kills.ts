import type { Db } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { expect } from "vitest";
import { askForBatch, type EndedBatch, endLeases, untilEnded } from "./batch-traffic.ts";
import type { FestivalCluster } from "./festival-cluster.ts";

/** A table that a step of the making of a batch writes: while it is locked, the step waits. */
interface Step {
  readonly name: string;
  readonly table: readonly [schema: string, name: string];
  readonly killed: readonly string[];
}

/** The steps of a batch, with those whose death they could notice. */
export const steps: readonly Step[] = [
  { name: "the tickets are sold", table: ["boxoffice", "sale"], killed: ["boxoffice-1"] },
  { name: "gates are told", table: ["checkin", "position"], killed: ["boxoffice-1", "offline-sales-1"] },
  { name: "the batch is stored", table: ["offline_sales", "batch"], killed: ["offline-sales-1"] },
];

/** Kills processes in the middle of a step of a batch, and returns how the batch ended. */
export async function killDuring({ table, killed }: Step, cluster: FestivalCluster): Promise<EndedBatch> {
  const { db } = cluster;
  const [baseUrl] = cluster.baseUrls;
  const processes = killed.map((name) => cluster.process(name));
  const check = await whileLocked(db, table, async (untilReached) => {
    const asked = await askForBatch(baseUrl, { item: 1, amount: 200 });
    await untilReached();
    await Promise.all(processes.map((process) => process.kill()));
    return asked;
  });
  await Promise.all(processes.map((process) => process.start()));
  await endLeases(db);
  return untilEnded(db, check);
}

/** Locks a table against writers for some work, which may wait until the first of them has come. */
async function whileLocked<T>(
  db: Db,
  [schema, name]: Step["table"],
  work: (untilReached: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const table = sql`${identifier(schema)}.${identifier(name)}`;
  return db.transaction(async (tx) => {
    await tx.run(sql`lock table ${table} in exclusive mode`);
    return work(async () => {
      const isReached = async () => {
        const { waiting } = await db.one<{ waiting: boolean }>(sql`
          select exists (select
                           from pg_locks
                          where pg_locks.relation = ${`${schema}.${name}`}::regclass
                            and not pg_locks.granted) as waiting`);
        return waiting;
      };
      await expect.poll(isReached, { interval: 10 }).toBe(true);
    });
  });
}
