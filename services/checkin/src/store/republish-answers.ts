import type { Queryable } from "@tessera/kit/pg/database";
import { drawAboveClock } from "@tessera/kit/pg/draw-above-clock";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import { sql } from "@tessera/kit/pg/sql";
import type { AnsweredPosition, KeptAnswer } from "../domain/kept-answer.ts";
import { groupAnswers } from "./given-answers.ts";
import { type EntityKey, keysAs } from "./keys.ts";

const revisionLock = declareLock("checkin answer revisions");

/**
 * Draws a revision above all earlier revisions of answers. The lock on the table waits until all transactions with a
 * smaller revision are committed. Gates that store answers queue behind it, so it has a short lock timeout. The advisory
 * lock serializes processes that move the sequence.
 */
export async function drawAnswerRevision(tx: Queryable): Promise<number> {
  await tx.run(sql`set local lock_timeout = '250ms'`);
  await tx.run(sql`lock table given_answer in share mode`);
  await takeLocks(tx, { alone: [revisionLock()] });
  return drawAboveClock(tx, "answer_revision");
}

export async function countAnswered(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from (select distinct given_answer.position, given_answer.event, given_answer.organizer from given_answer) as answered`);
  return count;
}

/** Reads the next positions after a position, in the order of the primary key, which begins with the position. */
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

/** A position with all its answers from gates, and the revision to publish. */
export interface RepublishedPosition extends AnsweredPosition {
  readonly revision: number;
}

interface Row extends EntityKey, KeptAnswer {
  readonly nextRevision: number;
}

/** Reads the answers of positions that the caller has locked; positions without answers are left out. */
export async function readAnswered(tx: Queryable, keys: readonly EntityKey[]): Promise<RepublishedPosition[]> {
  const rows = await tx.many<Row>(sql`
    select wanted.organizer, wanted.event, wanted.id, wanted.next_revision as "nextRevision", kept.question, kept.revision, kept.state
      from (select sent.organizer, sent.event, sent.id, nextval('answer_revision') as next_revision
              from ${keysAs("sent", keys)}) as wanted
      join given_answer as kept
        on kept.position = wanted.id and kept.event = wanted.event and kept.organizer = wanted.organizer
     order by wanted.next_revision, kept.question`);
  return groupAnswers(rows).map(({ nextRevision: revision, ...position }) => ({ ...position, revision }));
}
