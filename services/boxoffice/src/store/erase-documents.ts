import { type EventKey, eventKey } from "@tessera/events/entity-key";
import { countOfErasures } from "@tessera/events/personal-data/erasures";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { inMicroseconds } from "@tessera/kit/pg/instants";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { rowsAs, text } from "@tessera/kit/pg/table";
import { isBeforeErasure } from "./count-personal-data.ts";
import { endOf } from "./documents.ts";

export interface OrderDocument {
  readonly code: string;
  readonly data: unknown;
}

export async function replaceDocuments(
  tx: Tx,
  { organizer, event }: EventKey,
  orders: readonly OrderDocument[],
): Promise<void> {
  const rows = orders.map(({ code, data }) => ({ organizer, event, code, data: JSON.stringify(data) }));
  await tx.run(sql`
    update "order"
       set data = replaced.data::jsonb,
           revision = nextval('revision_seq'),
           changed_at = clock_timestamp()
      from ${rowsAs("replaced", { ...eventKey, code: text, data: text }, rows)}
     where "order".organizer = replaced.organizer
       and "order".event = replaced.event
       and "order".code = replaced.code`);
}

/** Finds the files of the answers of some positions, from records and gates. */
export async function findFilesOf(
  tx: Tx,
  { organizer, event }: EventKey,
  positions: readonly number[],
): Promise<string[]> {
  const rows = await tx.many<{ fileKey: string }>(sql`
    select answer_file.file_key as "fileKey"
      from answer_file
     where answer_file.organizer = ${organizer}
       and answer_file.event = ${event}
       and answer_file.position = any(${positions}::bigint[])
     union all
    select gate_answer.file ->> 'fileKey'
      from gate_answer
     where gate_answer.organizer = ${organizer}
       and gate_answer.event = ${event}
       and gate_answer.position = any(${positions}::bigint[])
       and gate_answer.file is not null`);
  return rows.map(({ fileKey }) => fileKey);
}

/** Whether an answer of an event is a file, from records or gates. */
export async function hasFiles(db: Queryable, { organizer, event }: EventKey): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (select
                     from answer_file
                    where answer_file.organizer = ${organizer}
                      and answer_file.event = ${event})
           or exists (select
                        from gate_answer
                       where gate_answer.organizer = ${organizer}
                         and gate_answer.event = ${event}
                         and gate_answer.file is not null) as found`);
  return found;
}

/** Deletes the answers of some positions outside of their states: files, and gate answers. Returns how many. */
export function deleteAnswers(
  tx: Tx,
  { organizer, event }: EventKey,
  positions: readonly number[],
): Promise<{ readonly files: number; readonly gateAnswers: number }> {
  return tx.one(sql`
    with files as (
      delete from answer_file
       where answer_file.organizer = ${organizer}
         and answer_file.event = ${event}
         and answer_file.position = any(${positions}::bigint[])
      returning 1
    ), answers as (
      delete from gate_answer
       where gate_answer.organizer = ${organizer}
         and gate_answer.event = ${event}
         and gate_answer.position = any(${positions}::bigint[])
      returning 1
    )
    select (select count(*) from files) as files, (select count(*) from answers) as "gateAnswers"`);
}

/** Finds when an erasure was requested, in microseconds since 1970, and whether it is a repetition. */
export function findRequest(
  tx: Queryable,
  { organizer, event, case: id }: EventKey & { readonly case: string },
): Promise<{ readonly requestedAt: number; readonly isRepeated: boolean }> {
  return tx.one(sql`
    select erasure.requested_at as "requestedAt", erasure.rounds > 0 as "isRepeated"
      from erasure
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
       and erasure.case_id = ${id}::uuid`);
}

/** Counts the rows of a table in the scope of the last erasure of answers. */
export async function countRows(db: Queryable, table: "answer_file" | "gate_answer", place: EventKey): Promise<number> {
  const from = table === "answer_file" ? sql`answer_file as held` : sql`gate_answer as held`;
  const { count } = await db.one<{ count: number }>(sql`
    select count(*)::bigint as count
      from ${from}
      join position
        on position.organizer = held.organizer and position.event = held.event and position.id = held.position
      join "order"
        on "order".organizer = position.organizer
       and "order".event = position.event
       and "order".code = position.order_code
     where held.organizer = ${place.organizer}
       and held.event = ${place.event}
       and ${isBeforeErasure(sql`'question_answers'`)}`);
  return count;
}

/** The number of gate answers whose files are still to be copied: no export has them. */
function countOfAwaited({ organizer, event }: EventKey): Sql {
  return sql`
    (select count(*)
       from gate_answer
      where gate_answer.organizer = ${organizer}
        and gate_answer.event = ${event}
        and gate_answer.awaited_revision is not null)`;
}

/** Whether the file of a gate answer is still to be copied. */
export async function isAwaitingFiles(db: Queryable, place: EventKey): Promise<boolean> {
  const { count } = await db.one<{ count: number }>(sql`select ${countOfAwaited(place)} as count`);
  return count > 0;
}

/** A text that changes with each change of an event, of its contents, and with each erasure. */
export function versionOf({ organizer, event }: EventKey): Sql {
  const of = (table: Sql) => sql`
    (select format('%s/%s', count(*), max(kept.revision))
       from ${table} as kept
      where kept.organizer = ${organizer}
        and kept.event = ${event})`;
  return sql`
    select md5(concat_ws(' ',
             (select event.revision
                from event
               where event.organizer = ${organizer}
                 and event.slug = ${event}),
             ${countOfErasures({ organizer, event })},
             ${countOfAwaited({ organizer, event })},
             ${of(sql`"order"`)}, ${of(sql`position`)}, ${of(sql`item`)}, ${of(sql`question`)},
             ${of(sql`quota`)}, ${of(sql`seat`)}, ${of(sql`subevent`)}, ${of(sql`category`)}, ${of(sql`tax_rule`)},
             ${of(sql`blocked_secret`)}, ${of(sql`revoked_secret`)})) as version`;
}

/** The end of an event, in microseconds since 1970; of a series that of its last date. Null: it has none. */
export interface Ending {
  readonly live: boolean;
  readonly isSeries: boolean;
  readonly lastAt: number | null;
  readonly timeZone: string;
  readonly now: number;
}

/** The columns of an `Ending`, from rows of `event`. */
const ending = sql`
  (event.data ->> 'live')::boolean as live,
  (event.data ->> 'has_subevents')::boolean as "isSeries",
  coalesce(event.data ->> 'timezone', event.settings ->> 'timezone', 'UTC') as "timeZone",
  ${inMicroseconds(sql`clock_timestamp()`)} as now,
  case when (event.data ->> 'has_subevents')::boolean
       then (select max(greatest(${inMicroseconds(endOf(sql`subevent.data`))},
                                 ${inMicroseconds(sql`(subevent.data ->> 'date_from')::timestamptz`)}))
               from subevent
              where subevent.organizer = event.organizer
                and subevent.event = event.slug)
       else ${inMicroseconds(endOf(sql`event.data`))} end as "lastAt"`;

/** Finds the end of an event; undefined: there is no such event. */
export function findEnding(db: Queryable, { organizer, event }: EventKey): Promise<Ending | undefined> {
  return db.maybeOne<Ending>(sql`
    select ${ending}
      from event
     where event.organizer = ${organizer}
       and event.slug = ${event}
       and not event.is_removed`);
}

/** Reads the ends of the next events of an organizer, in the order of their names. */
export function nextEndings(
  db: Queryable,
  { organizer, after, limit }: { readonly organizer: string; readonly after: string; readonly limit: number },
): Promise<(Ending & { readonly event: string })[]> {
  return db.many(sql`
    select event.slug as event, ${ending}
      from (select next.organizer, next.slug, next.data, next.settings
              from event as next
             where next.organizer = ${organizer}
               and next.slug > ${after}
               and not next.is_removed
             order by next.slug
             limit ${limit}) as event
     order by event.slug`);
}
