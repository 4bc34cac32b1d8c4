import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { CatalogueTable } from "./catalogue.ts";
import { takeLocks } from "./locks.ts";

/** The sequences of ids that boxoffice assigns itself. */
export type IdSequence =
  `${Exclude<CatalogueTable, "sales_channel"> | "device" | "position" | "question_option" | "variation"}_id_seq`;

/** Held briefly, by transactions that wait for nothing else, so it may be taken at any point of a transaction. */
const lockName = "id sequences";

/**
 * Raises sequences above imported ids. To read a sequence and to move it are two steps, and `setval` also moves
 * backward: the lock excludes draws and raises in between.
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

/** Draws ids with a statement of the caller, which must change nothing else. Ids of records are below them, because imports raise the sequence. */
export async function shareSequences<T>(tx: Tx, draw: () => Promise<T>): Promise<T> {
  return holding(tx, { exclusive: false }, draw);
}

/**
 * Works under the lock, and releases it before the transaction ends, by a rollback to a savepoint, which does not move
 * sequences back. If the lock were held until commit, two imports that have both drawn ids would deadlock when they
 * raise the sequence.
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
