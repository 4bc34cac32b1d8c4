import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { CatalogueTable } from "./catalogue.ts";
import { takeLocks } from "./locks.ts";

/** The sequences of ids that boxoffice assigns itself. */
export type IdSequence =
  `${Exclude<CatalogueTable, "sales_channel"> | "device" | "position" | "question_option" | "variation"}_id_seq`;

/** Held briefly, by transactions that wait for nothing else meanwhile: so it may be taken at any point of a transaction. */
const lockName = "id sequences";

/**
 * Raises sequences above imported ids. Reading a sequence and moving it are two steps, and `setval` also moves backward:
 * the lock keeps others from drawing an id or raising a sequence in between.
 */
export async function raise(tx: Tx, highest: ReadonlyMap<IdSequence, number>): Promise<void> {
  if (highest.size === 0) return;
  const behind = await tx.many<{ sequence: string; highest: number }>(
    behindOf([...highest.keys()], [...highest.values()]),
  );
  if (behind.length === 0) return;
  const still = behindOf(
    behind.map((row) => row.sequence),
    behind.map((row) => row.highest),
  );
  await holding(tx, { exclusive: true }, () =>
    tx.run(sql`select setval(behind.sequence::regclass, behind.highest) from (${still}) as behind`),
  );
}

/** Draws the next id. The ids of records are below it, because they have raised the sequence. */
export async function next(tx: Tx, sequence: IdSequence): Promise<number> {
  const { id } = await shareSequences(tx, () =>
    tx.one<{ id: number }>(sql`select nextval(${sequence}::text::regclass) as id`),
  );
  return id;
}

/** Draws ids with a statement of the caller, which must change nothing else. */
export async function shareSequences<T>(tx: Tx, draw: () => Promise<T>): Promise<T> {
  return holding(tx, { exclusive: false }, draw);
}

/**
 * Does work under the lock and releases the lock before the transaction ends: only a rollback to a savepoint does that,
 * and it does not move a sequence back. With the lock held until commit, two imports that had both drawn ids would
 * deadlock when they raise the sequence.
 */
async function holding<T>(tx: Tx, { exclusive }: { exclusive: boolean }, work: () => Promise<T>): Promise<T> {
  await tx.run(sql`savepoint id_sequences`);
  await takeLocks(tx, [{ name: lockName, exclusive }]);
  const result = await work();
  await tx.run(sql`rollback to savepoint id_sequences`);
  await tx.run(sql`release savepoint id_sequences`);
  return result;
}

function behindOf(sequences: readonly string[], highest: readonly number[]) {
  return sql`
    select wanted.sequence, wanted.highest
      from unnest(${sequences}::text[], ${highest}::bigint[]) as wanted (sequence, highest)
     where wanted.highest > coalesce(pg_sequence_last_value(wanted.sequence::regclass), 0)`;
}
