import { isErased } from "@tessera/events/personal-data/erased-kinds";
import { countOfErasures } from "@tessera/events/personal-data/erasures";
import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { EntityKey, EventKey } from "./keys.ts";

export function answersAreErased(row: Sql): Sql {
  return isErased({ organizer: sql`${row}.organizer`, event: sql`${row}.event` }, ["question_answers"]);
}

export function attendeesAreErased(row: Sql): Sql {
  return isErased({ organizer: sql`${row}.organizer`, event: sql`${row}.event` }, ["attendee_info"]);
}

/** Finds the next tickets of an event that were given an answer at a gate, in the order of their ids. */
export async function nextAnsweredOf(
  tx: Queryable,
  { organizer, event }: EventKey,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<EntityKey[]> {
  return tx.many<EntityKey>(sql`
    select given_answer.organizer, given_answer.event, given_answer.position as id
      from given_answer
     where given_answer.position > ${after}::bigint
       and given_answer.organizer = ${organizer}
       and given_answer.event = ${event}
     group by given_answer.position, given_answer.event, given_answer.organizer
     order by given_answer.position
     limit ${limit}`);
}

/** Counts the answers that tickets were given at gates: of an event, or of some tickets of it. */
export async function countGivenAnswers(
  db: Queryable,
  { organizer, event }: EventKey,
  tickets?: readonly EntityKey[],
): Promise<number> {
  const ids = tickets?.map(({ id }) => id) ?? null;
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from given_answer
     where given_answer.organizer = ${organizer}
       and given_answer.event = ${event}
       and (${ids}::bigint[] is null or given_answer.position = any(${ids}::bigint[]))`);
  return count;
}

/** The columns of scans with texts about visitors. */
export const wordsOfScans = ["raw_code", "explanation"] as const;

export interface ForgottenWords {
  readonly rawCodes: number;
  readonly explanations: number;
  /** The id to go on after; null: the end is reached. */
  readonly last: number | null;
}

/** Deletes codes and explanations of the next scans of an event, in the order of their ids. */
export async function forgetWords(
  tx: Queryable,
  { organizer, event }: EventKey,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<ForgottenWords> {
  return tx.one<ForgottenWords>(sql`
    with found as materialized (
      select scan.id, scan.raw_code, scan.explanation
        from scan
       where scan.organizer = ${organizer}
         and scan.event = ${event}
         and scan.id > ${after}
         and (scan.raw_code is not null or scan.explanation is not null)
       order by scan.id
       limit ${limit}
         for no key update
    ), forgotten as (
      update scan
         set raw_code = null,
             explanation = null
        from found
       where scan.organizer = ${organizer}
         and scan.event = ${event}
         and scan.id = found.id
    )
    select count(found.raw_code) as "rawCodes", count(found.explanation) as explanations, max(found.id) as last
      from found`);
}

/** Counts the scans of an event with a code, or with an explanation. */
export async function countWords(
  db: Queryable,
  { organizer, event }: EventKey,
  word: (typeof wordsOfScans)[number],
): Promise<number> {
  const column = word === "raw_code" ? sql`scan.raw_code` : sql`scan.explanation`;
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from scan
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and ${column} is not null`);
  return count;
}

/** A text that changes with each change of what check-in owns of an event, and with each erasure. */
export function versionOf({ organizer, event }: EventKey): Sql {
  const ofEvent = (table: Sql) => sql`${table}.organizer = ${organizer} and ${table}.event = ${event}`;
  return sql`
    select md5(concat_ws(' ',
             (select format('%s/%s', count(*), max(scan.id)) from scan where ${ofEvent(sql`scan`)}),
             (select format('%s/%s', count(*), max(double_note.explained_at)) from double_note where ${ofEvent(sql`double_note`)}),
             (select format('%s/%s', count(*), max(given_answer.revision)) from given_answer where ${ofEvent(sql`given_answer`)}),
             (select format('%s/%s', count(*), max(list.id)) from list where ${ofEvent(sql`list`)}),
             (select max(list_change.changed_at) from list_change where ${ofEvent(sql`list_change`)}),
             ${countOfErasures({ organizer, event })})) as version`;
}
