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

/**
 * Raises sequences above imported ids.
 *
 * Reading how far a sequence is and moving it are two steps, and `setval` also moves back: the lock, held until
 * commit, keeps another import from raising it in between. It is taken last in its transaction.
 */
export async function raise(tx: Tx, highest: ReadonlyMap<IdSequence, number>): Promise<void> {
  if (highest.size === 0) return;
  const behind = await tx.many<{ sequence: string; highest: number }>(
    behindOf([...highest.keys()], [...highest.values()]),
  );
  if (behind.length === 0) return;
  await take(tx, [{ name: "id sequences", exclusive: true }]);
  const still = behindOf(
    behind.map((row) => row.sequence),
    behind.map((row) => row.highest),
  );
  await tx.run(sql`select setval(behind.sequence::regclass, behind.highest) from (${still}) as behind`);
}

/** Takes the next id; what records bring along has been raised above. */
export async function next(tx: Tx, sequence: IdSequence): Promise<number> {
  const { id } = await tx.one<{ id: number }>(sql`select nextval(${sequence}::text::regclass) as id`);
  return id;
}

function behindOf(sequences: readonly string[], highest: readonly number[]) {
  return sql`
    select wanted.sequence, wanted.highest
      from unnest(${sequences}::text[], ${highest}::bigint[]) as wanted (sequence, highest)
     where wanted.highest > coalesce(pg_sequence_last_value(wanted.sequence::regclass), 0)`;
}
