import type { Queryable } from "@tessera/kit/pg/database";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import { sql } from "@tessera/kit/pg/sql";
import type { AnsweredPosition, KeptAnswer } from "../domain/questions/kept-answer.ts";
import { gatherAnswers } from "./given-answers.ts";
import type { EntityKey } from "./keys.ts";

const revisionLock = declareLock("checkin answer revisions");

/** Sequences do not go back with a clock that is corrected a little. */
const margin = 1_000_000;

/**
 * Draws a revision above every one that answers were given before, also by a database that was restored from a backup since:
 * it is the time in microseconds, unless the sequence is ahead of it.
 *
 * The lock on the table waits for all transactions that have drawn a smaller one: they are committed by then. Gates that
 * store answers queue behind it, so it does not wait for long. The other lock keeps two from moving the sequence at the same
 * time, of which the second would move it back.
 */
export async function drawAnswerRevision(tx: Queryable): Promise<number> {
  await tx.run(sql`set local lock_timeout = '250ms'`);
  await tx.run(sql`lock table given_answer in share mode`);
  await takeLocks(tx, { alone: [revisionLock()] });
  const { revision } = await tx.one<{ revision: number }>(sql`
    select case when coalesce(pg_sequence_last_value('answer_revision'::regclass), 0) < clock.micros - ${margin}::bigint
                then setval('answer_revision', clock.micros)
                else nextval('answer_revision')
           end as revision
      from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as micros) as clock`);
  return revision;
}

/** Counts the positions that were given any answer at a gate. */
export async function countAnswered(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from (select distinct given_answer.position, given_answer.event, given_answer.organizer from given_answer) as answered`);
  return count;
}

/** Reads the positions that follow one, in the order of the primary key, which begins with the position. */
export async function nextAnswered(
  tx: Queryable,
  { after, limit }: { after: EntityKey | undefined; limit: number },
): Promise<EntityKey[]> {
  return tx.many<EntityKey>(sql`
    select given_answer.organizer, given_answer.event, given_answer.position as id
      from given_answer
     where given_answer.position >= ${after?.id ?? 0}::bigint
       and (given_answer.position, given_answer.event, given_answer.organizer)
           > (${after?.id ?? 0}::bigint, ${after?.event ?? ""}, ${after?.organizer ?? ""})
     group by given_answer.position, given_answer.event, given_answer.organizer
     order by given_answer.position, given_answer.event, given_answer.organizer
     limit ${limit}`);
}

/** A position with all that it answered at gates, and a revision to publish it again. */
export interface RepublishedPosition extends AnsweredPosition {
  readonly revision: number;
}

interface Row extends EntityKey, KeptAnswer {
  readonly next_revision: number;
}

/** Reads what positions that the caller holds have answered; those that answered nothing any more are left out. */
export async function readAnswered(tx: Queryable, keys: readonly EntityKey[]): Promise<RepublishedPosition[]> {
  const rows = await tx.many<Row>(sql`
    select wanted.organizer, wanted.event, wanted.id, wanted.next_revision, kept.question, kept.revision, kept.state
      from (select sent.organizer, sent.event, sent.id, nextval('answer_revision') as next_revision
              from unnest(${keys.map((key) => key.organizer)}::text[], ${keys.map((key) => key.event)}::text[],
                          ${keys.map((key) => key.id)}::bigint[]) as sent (organizer, event, id)) as wanted
      join given_answer as kept
        on kept.position = wanted.id and kept.event = wanted.event and kept.organizer = wanted.organizer
     order by wanted.next_revision, kept.question`);
  return gatherAnswers(rows).map(({ first: { organizer, event, id, next_revision }, answers }) => ({
    organizer,
    event,
    id,
    revision: next_revision,
    answers,
  }));
}
