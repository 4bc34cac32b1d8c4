import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { take } from "./locks.ts";

/** The kinds whose ids we assign ourselves. */
export type IdSequence =
  | "gate_id_seq"
  | "device_id_seq"
  | "subevent_id_seq"
  | "tax_rule_id_seq"
  | "category_id_seq"
  | "item_id_seq"
  | "variation_id_seq"
  | "quota_id_seq"
  | "question_id_seq"
  | "question_option_id_seq"
  | "seat_id_seq"
  | "revoked_secret_id_seq"
  | "blocked_secret_id_seq"
  | "reusable_medium_id_seq"
  | "position_id_seq";

/** Held for moments only, in which nobody waits for anything else: so it may be taken at any point of a transaction. */
const lockName = "id sequences";

/**
 * Raises sequences above imported ids. Reading how far a sequence is and moving it are two steps, and `setval` also moves
 * back: in between nobody draws an id, and nobody else raises a sequence.
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

/** Takes the next id; what records bring along has been raised above. */
export async function next(tx: Tx, sequence: IdSequence): Promise<number> {
  const { id } = await whileNobodyRaises(tx, () =>
    tx.one<{ id: number }>(sql`select nextval(${sequence}::text::regclass) as id`),
  );
  return id;
}

/** Draws ids with a statement of the caller's own, which changes nothing else. */
export async function whileNobodyRaises<T>(tx: Tx, draw: () => Promise<T>): Promise<T> {
  return holding(tx, { exclusive: false }, draw);
}

/**
 * Does work under the lock, and lets it go before the transaction ends. Going back to a savepoint is what lets a lock of
 * a transaction go; a sequence stays where it is. Were the lock held until commit, of two imports that had both drawn ids
 * neither could raise the sequence.
 */
async function holding<T>(tx: Tx, { exclusive }: { exclusive: boolean }, work: () => Promise<T>): Promise<T> {
  await tx.run(sql`savepoint id_sequences`);
  await take(tx, [{ name: lockName, exclusive }]);
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
