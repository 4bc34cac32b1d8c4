import { toNullableTimestamp } from "@tessera/kit/pg/instants";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import type { Queryable } from "@tessera/kit/pg/queryable";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, rowsAs, text } from "@tessera/kit/pg/table";
import type { EventKey } from "../entity-key.ts";

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
  /** The request has arrived. */
  readonly isTakenOn: boolean;
}

const beginLock = declareLock("begin of an erasure");

/**
 * Whether a case that is not requested yet is the first one of its event, until the transaction ends. Of two concurrent
 * cases only the first begins: each is a change of the event, and would refuse the other one. A case that the
 * shredder does not know any more, because its database was restored, stands in the way for an hour only.
 */
export async function isFirstCase(tx: Queryable, { organizer, event, case: id }: Case): Promise<boolean> {
  await takeLocks(tx, { alone: [beginLock(organizer, event)] });
  const another = await tx.maybeOne(sql`
    select from erasure
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
       and erasure.case_id <> ${id}::uuid
       and not erasure.is_taken_on
       and not erasure.is_taken_back
       and erasure.requested_at > clock_timestamp() - interval '1 hour'
     limit 1`);
  return another === undefined;
}

/** Begins a case; a second call changes nothing. Returns false if the case was taken back. */
export async function noteCase(
  tx: Queryable,
  { organizer, event, case: id, kinds }: Case & { readonly kinds: readonly string[] },
): Promise<boolean> {
  const { open } = await tx.one<{ open: boolean }>(sql`
    insert into erasure as kept (organizer, event, case_id, kinds)
    values (${organizer}, ${event}, ${id}::uuid, ${kinds}::text[])
        on conflict (organizer, event, case_id) do update
           set kinds = kept.kinds
    returning not kept.is_taken_back as open`);
  return open;
}

/**
 * Takes on the request to erase, and returns how often the erasure was begun again before; undefined: the case is not
 * known here, because it went with its event.
 */
export async function takeOn(tx: Queryable, { organizer, event, case: id }: Case): Promise<number | undefined> {
  const row = await tx.maybeOne<{ rounds: number }>(sql`
    update erasure
       set is_taken_on = true
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
       and erasure.case_id = ${id}::uuid
       and not erasure.is_taken_back
    returning erasure.rounds`);
  return row?.rounds;
}

/** Whether a case is in force here until this transaction ends: one that is not ended with its event. */
export async function holdCase(tx: Queryable, { organizer, event, case: id }: Case): Promise<boolean> {
  const row = await tx.maybeOne(sql`
    select from erasure
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
       and erasure.case_id = ${id}::uuid
       and not erasure.is_taken_back
       for share`);
  return row !== undefined;
}

/**
 * Takes on a request that is repeated: of a case that is not known, and of one that is done. Undefined: the case ended with
 * its event. One that is not known, and that was requested at a known time, is repeated as well: the database has lost it.
 */
export async function takeOnAgain(
  tx: Queryable,
  {
    organizer,
    event,
    case: id,
    kinds,
    requestedAt = null,
  }: Case & { readonly kinds: readonly string[]; readonly requestedAt?: number | null | undefined },
): Promise<number | undefined> {
  const at = toNullableTimestamp(requestedAt);
  const row = await tx.maybeOne<{ rounds: number }>(sql`
    insert into erasure as kept (organizer, event, case_id, kinds, is_taken_on, requested_at, rounds)
    values (${organizer}, ${event}, ${id}::uuid, ${kinds}::text[], true,
            coalesce(${at}::timestamptz, clock_timestamp()), case when ${at}::timestamptz is null then 0 else 1 end)
        on conflict (organizer, event, case_id) do update
           set is_taken_on = true,
               rounds = kept.rounds + case when kept.done_at is null then 0 else 1 end,
               done_at = null
         where not kept.is_taken_back
    returning kept.rounds`);
  return row?.rounds;
}

/** Takes back a case that was not requested. Its row stays: a call that arrives late must not begin it again. */
export async function takeBack(tx: Queryable, { organizer, event, case: id }: Case): Promise<void> {
  await tx.run(sql`
    insert into erasure as kept (organizer, event, case_id, kinds, is_taken_back, done_at)
    values (${organizer}, ${event}, ${id}::uuid, '{}', true, clock_timestamp())
        on conflict (organizer, event, case_id) do update
           set kinds = excluded.kinds, is_taken_back = true, done_at = excluded.done_at
         where not kept.is_taken_on`);
}

/** Forgets a case, unless it was taken back or requested. */
export async function forgetCase(tx: Queryable, { organizer, event, case: id }: Case): Promise<void> {
  await tx.run(sql`
    delete from erasure
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
       and erasure.case_id = ${id}::uuid
       and not erasure.is_taken_on
       and not erasure.is_taken_back`);
}

/** Whether some of these kinds are being erased of an event at this moment. */
export async function isBeingErased(
  db: Queryable,
  { organizer, event }: EventKey,
  kinds: readonly string[],
): Promise<boolean> {
  const row = await db.maybeOne(sql`
    select from erasure
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
       and erasure.kinds && ${kinds}::text[]
       and erasure.done_at is null
     limit 1`);
  return row !== undefined;
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

/** Finds a case that was not taken back. */
export async function findErasure(db: Queryable, { organizer, event, case: id }: Case): Promise<Erasure | undefined> {
  return db.maybeOne<Erasure>(sql`
    select erasure.kinds, erasure.done_at is not null as "isDone", erasure.is_taken_on as "isTakenOn"
      from erasure
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
       and erasure.case_id = ${id}::uuid
       and not erasure.is_taken_back`);
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

export async function readParts(db: Queryable, { organizer, event, case: id }: Case): Promise<ErasedPart[]> {
  return db.many<ErasedPart>(sql`
    select erased_part.kind, erased_part.holding, erased_part.amount as count
      from erased_part
     where erased_part.organizer = ${organizer}
       and erased_part.event = ${event}
       and erased_part.case_id = ${id}::uuid
     order by erased_part.kind, erased_part.holding`);
}

/** What may hold personal data and is kept, with the reason. */
export interface KeptPart {
  readonly holding: string;
  readonly reason: string;
}

/** Reads what the schema of the service declares as kept: comments on tables and columns name the kinds, and then the reason. */
export async function readKept(db: Queryable): Promise<KeptPart[]> {
  return db.many<KeptPart>(sql`
    select concat_ws('.', pg_class.relname, pg_attribute.attname) as holding,
           split_part(pg_description.description, '; ', -1) as reason
      from pg_description
      join pg_class on pg_class.oid = pg_description.objoid
      left join pg_attribute
        on pg_attribute.attrelid = pg_class.oid and pg_attribute.attnum = pg_description.objsubid and pg_attribute.attnum > 0
     where pg_description.classoid = 'pg_class'::regclass
       and pg_class.relnamespace = current_schema()::regnamespace
       and pg_description.description ~ '^personal data: ([a-z_]+, )*kept;'
     order by 1`);
}

/** A deletion is dated before its transaction commits, by the clock of another database. */
const atOnce = sql`interval '1 minute'`;

/**
 * Ends the erasures of events that were deleted: others may get their names. The ids of the cases stay, so that a request
 * for one, which may come at any time, does not touch another event. `gone` has the columns organizer, event and at: the time of
 * the deletion. A case that began clearly later is of the next event with the name; null: all cases end.
 */
export async function endErasures(tx: Queryable, gone: Sql): Promise<void> {
  await tx.run(sql`
    with ended as (
      update erasure
         set kinds = '{}', is_taken_back = true, done_at = coalesce(erasure.done_at, clock_timestamp())
        from ${gone}
       where erasure.organizer = gone.organizer
         and erasure.event = gone.event
         and erasure.requested_at < coalesce(gone.at + ${atOnce}, 'infinity')
         and not erasure.is_taken_back
      returning erasure.organizer, erasure.event, erasure.case_id
    )
    delete from erased_part
     using ended
     where erased_part.organizer = ended.organizer
       and erased_part.event = ended.event
       and erased_part.case_id = ended.case_id`);
}

/** The number of erasures of an event: each of them is a change of it. */
export function countOfErasures({ organizer, event }: EventKey): Sql {
  return sql`
    (select count(*)
       from erasure
      where erasure.organizer = ${organizer}
        and erasure.event = ${event}
        and not erasure.is_taken_back)`;
}
