import type { EventKey } from "../pg/entity-key.ts";
import type { Queryable } from "../pg/queryable.ts";
import { sql } from "../pg/sql.ts";
import { bigint, rowsAs, text } from "../pg/table.ts";

/** A case of an event: a request to erase kinds of personal data. */
export interface Case extends EventKey {
  /** A UUID. */
  readonly case: string;
}

/** So much of a kind was erased from a holding, for instance `order.data`. */
export interface ErasedPart {
  readonly kind: string;
  readonly holding: string;
  readonly count: number;
}

export interface Erasure {
  readonly kinds: readonly string[];
  readonly isDone: boolean;
}

/** Notes a request; again, it changes nothing. */
export async function noteRequest(
  tx: Queryable,
  { organizer, event, case: id, kinds }: Case & { readonly kinds: readonly string[] },
): Promise<void> {
  await tx.run(sql`
    insert into erasure (organizer, event, case_id, kinds)
    values (${organizer}, ${event}, ${id}::uuid, ${kinds}::text[])
        on conflict (organizer, event, case_id) do nothing`);
}

/** Adds to the counts of a case, unless it was forgotten with its event. */
export async function addParts(
  tx: Queryable,
  { organizer, event, case: id }: Case,
  parts: readonly ErasedPart[],
): Promise<void> {
  await tx.run(sql`
    insert into erased_part as kept (organizer, event, case_id, kind, holding, amount)
    select erasure.organizer, erasure.event, erasure.case_id, part.kind, part.holding, sum(part.count)
      from ${rowsAs("part", { kind: text, holding: text, count: bigint }, parts)}
      join erasure
        on erasure.organizer = ${organizer} and erasure.event = ${event} and erasure.case_id = ${id}::uuid
     where part.count > 0
     group by erasure.organizer, erasure.event, erasure.case_id, part.kind, part.holding
     order by part.kind, part.holding
        on conflict (organizer, event, case_id, kind, holding) do update
           set amount = kept.amount + excluded.amount`);
}

/** Notes that everything of a case is erased here. */
export async function noteDone(tx: Queryable, { organizer, event, case: id }: Case): Promise<void> {
  await tx.run(sql`
    update erasure
       set done_at = clock_timestamp()
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
       and erasure.case_id = ${id}::uuid
       and erasure.done_at is null`);
}

export async function findErasure(db: Queryable, { organizer, event, case: id }: Case): Promise<Erasure | undefined> {
  return db.maybeOne<Erasure>(sql`
    select erasure.kinds, erasure.done_at is not null as "isDone"
      from erasure
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
       and erasure.case_id = ${id}::uuid`);
}

/** Finds when the last erasure of an event was requested, in microseconds since 1970; undefined: none was. */
export async function findLastRequest(
  db: Queryable,
  { organizer, event }: EventKey,
  kind: string,
): Promise<number | undefined> {
  const { at } = await db.one<{ at: number | null }>(sql`
    select max(erasure.requested_at) as at
      from erasure
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
       and ${kind} = any(erasure.kinds)`);
  return at ?? undefined;
}

/** Reads what a case has erased here. */
export async function readParts(db: Queryable, { organizer, event, case: id }: Case): Promise<ErasedPart[]> {
  return db.many<ErasedPart>(sql`
    select erased_part.kind, erased_part.holding, erased_part.amount as count
      from erased_part
     where erased_part.organizer = ${organizer}
       and erased_part.event = ${event}
       and erased_part.case_id = ${id}::uuid
     order by erased_part.kind, erased_part.holding`);
}

/** Finds the kinds of personal data that an event has no more, and must not get again. */
export async function findErasedKinds(db: Queryable, { organizer, event }: EventKey): Promise<Set<string>> {
  const rows = await db.many<{ kind: string }>(sql`
    select distinct unnest(erasure.kinds) as kind
      from erasure
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}`);
  return new Set(rows.map(({ kind }) => kind));
}

/** Forgets the erasures of an event that was deleted: another one may get its name. */
export async function forgetErasures(tx: Queryable, { organizer, event }: EventKey): Promise<void> {
  await tx.run(sql`delete from erasure where erasure.organizer = ${organizer} and erasure.event = ${event}`);
}

/**
 * Deletes the dead letters of an event and of these topics, and returns how many. Their keys are those of its entities, or its own
 * with what a message from outside is about.
 */
export async function deleteDeadLetters(
  tx: Queryable,
  { organizer, event }: EventKey,
  topics: readonly string[],
): Promise<number> {
  return tx.run(sql`
    delete from dead_letter
     where dead_letter.topic = any(${topics}::text[])
       and (starts_with(dead_letter.key, ${`${organizer}/${event}/`})
            or starts_with(dead_letter.key, ${`${organizer}/${event}#`}))`);
}
