import { toByteaArray } from "@tessera/kit/pg/binary-array";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { AnsweredPosition, KeptAnswer } from "../domain/questions/kept-answer.ts";
import { type EntityKey, nameOf } from "./keys.ts";

/** An answer that a position was given at a gate. */
export interface AnswerToStore extends EntityKey {
  readonly question: number;
  /** An encoded GivenAnswer without its revision, which the column has. */
  readonly state: Uint8Array;
  /** Boxoffice has applied all answers of the position up to this revision; without it, none. */
  readonly takenUpTo?: number;
  /** The position answers this already. */
  readonly isUnchanged?: boolean;
}

/** Gathers answers by position: of each its first row, and all answers. */
export function gatherAnswers<R extends EntityKey & KeptAnswer>(
  rows: readonly R[],
): { readonly first: R; readonly answers: readonly KeptAnswer[] }[] {
  return [...Map.groupBy(rows, nameOf).values()].flatMap((all) => {
    const [first] = all;
    const answers = all.map(({ question, revision, state }) => ({ question, revision, state }));
    return first === undefined ? [] : [{ first, answers }];
  });
}

/**
 * Stores answers of positions that the caller holds, and returns all answers of those positions whose
 * answers have changed by it. Of several answers to one question the last one counts.
 *
 * What was stored before and applied by boxoffice since no longer counts where the position answers otherwise, so the
 * same answer is a change then.
 */
export async function putGivenAnswers(tx: Queryable, answers: readonly AnswerToStore[]): Promise<AnsweredPosition[]> {
  const last = [...new Map(answers.map((answer) => [`${nameOf(answer)}/${answer.question}`, answer])).values()];
  const news = last.filter(({ isUnchanged }) => isUnchanged !== true);
  if (news.length === 0) return [];
  const changed = await tx.many<{ organizer: string; event: string; position: number }>(sql`
    insert into given_answer as kept (organizer, event, position, question, revision, state)
    select sent.organizer, sent.event, sent.position, sent.question, nextval('answer_revision'), sent.state
      from unnest(${news.map((answer) => answer.organizer)}::text[],
                  ${news.map((answer) => answer.event)}::text[],
                  ${news.map((answer) => answer.id)}::bigint[],
                  ${news.map((answer) => answer.question)}::bigint[],
                  ${toByteaArray(news.map((answer) => answer.state))}::bytea[],
                  ${news.map((answer) => answer.takenUpTo ?? 0)}::bigint[])
           as sent (organizer, event, position, question, state, taken_up_to)
      left join given_answer as before
        on before.position = sent.position and before.question = sent.question
           and before.event = sent.event and before.organizer = sent.organizer
     where before.state is distinct from sent.state
        or before.revision <= sent.taken_up_to
     order by sent.position, sent.question, sent.event, sent.organizer
        on conflict (position, question, event, organizer) do update
           set revision = excluded.revision, state = excluded.state
    returning kept.organizer, kept.event, kept.position`);
  const rows = await tx.many<EntityKey & KeptAnswer>(sql`
    select kept.organizer, kept.event, kept.position as id, kept.question, kept.revision, kept.state
      from (select distinct changed.organizer, changed.event, changed.position
              from unnest(${changed.map((row) => row.organizer)}::text[], ${changed.map((row) => row.event)}::text[],
                          ${changed.map((row) => row.position)}::bigint[]) as changed (organizer, event, position)) as changed
      join given_answer as kept
        on kept.position = changed.position and kept.event = changed.event and kept.organizer = changed.organizer
     order by kept.question`);
  return gatherAnswers(rows).map(({ first: { organizer, event, id }, answers: all }) => ({
    organizer,
    event,
    id,
    answers: all,
  }));
}
