import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, bytea, rowsAs } from "@tessera/kit/pg/table";
import { withKey } from "@tessera/kit/pg/with-key";
import type { AnsweredPosition, KeptAnswer } from "../domain/kept-answer.ts";
import { answersAreErased } from "./erase-answers.ts";
import { type EntityKey, entityKey, keysAs, nameOf } from "./keys.ts";

export interface AnswerToStore extends EntityKey {
  readonly question: number;
  /** An encoded GivenAnswer without its revision, which is a column. */
  readonly state: Uint8Array;
  /** Boxoffice has applied answers to this question up to this revision; by default 0. */
  readonly appliedUpTo?: number;
  /** The position has this answer already. */
  readonly isUnchanged?: boolean;
}

const sentColumns = { ...entityKey, question: bigint, state: bytea, appliedUpTo: bigint };

export function groupAnswers<R extends EntityKey & KeptAnswer>(
  rows: readonly R[],
): (Omit<R, keyof KeptAnswer> & { readonly answers: readonly KeptAnswer[] })[] {
  return [...Map.groupBy(rows, nameOf).values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const { question: _, revision: __, state: ___, ...position } = first;
    return [{ ...position, answers: all.map(({ question, revision, state }) => ({ question, revision, state })) }];
  });
}

/**
 * Stores answers of positions that the caller has locked, and returns all answers of the positions that it changed. Of
 * several answers to one question the last counts.
 *
 * A stored answer that boxoffice has applied may since be superseded there, so the same answer counts as a change.
 * Answers to an event whose answers were erased are dropped.
 */
export async function putGivenAnswers(tx: Queryable, answers: readonly AnswerToStore[]): Promise<AnsweredPosition[]> {
  const last = [...new Map(answers.map((answer) => [`${nameOf(answer)}/${answer.question}`, answer])).values()];
  const news = last
    .filter(({ isUnchanged }) => isUnchanged !== true)
    .map((answer) => ({ ...answer, appliedUpTo: answer.appliedUpTo ?? 0 }));
  if (news.length === 0) return [];
  const changed = await tx.many<EntityKey>(sql`
    insert into given_answer as kept (organizer, event, position, question, revision, state)
    select sent.organizer, sent.event, sent.id, sent.question, nextval('answer_revision'), sent.state
      from ${rowsAs("sent", sentColumns, news)}
      left join lateral (
        select given_answer.revision, given_answer.state
          from given_answer
         where ${withKey(sql`given_answer.position, given_answer.question, given_answer.event, given_answer.organizer`, sql`sent.id, sent.question, sent.event, sent.organizer`)}
         limit 1) as before on true
     where (before.state is distinct from sent.state or before.revision <= sent.applied_up_to)
       and not ${answersAreErased(sql`sent`)}
     order by sent.id, sent.question, sent.event, sent.organizer
        on conflict (position, question, event, organizer) do update
           set revision = excluded.revision, state = excluded.state
    returning kept.organizer, kept.event, kept.position as id`);
  const rows = await tx.many<EntityKey & KeptAnswer>(sql`
    select kept.organizer, kept.event, kept.position as id, kept.question, kept.revision, kept.state
      from (select distinct changed.organizer, changed.event, changed.id
              from ${keysAs("changed", changed)}) as changed
      join given_answer as kept
        on kept.position = changed.id and kept.event = changed.event and kept.organizer = changed.organizer
     order by kept.question`);
  return groupAnswers(rows);
}
