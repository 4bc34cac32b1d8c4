import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EntityKey } from "./keys.ts";

/** What checkin keeps of a question. */
export interface QuestionCopy extends EntityKey {
  readonly revision: number;
  readonly items: readonly number[];
  readonly position: number;
  readonly askDuringCheckin: boolean;
  /** The question resource in JSON. */
  readonly document: string;
}

/** Takes over questions, unless a newer state is here already. */
export async function putQuestions(db: Queryable, questions: readonly QuestionCopy[]): Promise<void> {
  if (questions.length === 0) return;
  await db.run(sql`
    insert into question (organizer, event, id, revision, items, position, ask_during_checkin, document)
    select sent.organizer, sent.event, sent.id, sent.revision, sent.items::bigint[], sent.position,
           sent.ask_during_checkin, sent.document
      from unnest(${questions.map((question) => question.organizer)}::text[],
                  ${questions.map((question) => question.event)}::text[],
                  ${questions.map((question) => question.id)}::bigint[],
                  ${questions.map((question) => question.revision)}::bigint[],
                  ${questions.map((question) => `{${question.items.join(",")}}`)}::text[],
                  ${questions.map((question) => question.position)}::bigint[],
                  ${questions.map((question) => question.askDuringCheckin)}::boolean[],
                  ${questions.map((question) => question.document)}::jsonb[])
           as sent (organizer, event, id, revision, items, position, ask_during_checkin, document)
        on conflict (organizer, event, id) do update
           set revision = excluded.revision, items = excluded.items, position = excluded.position,
               ask_during_checkin = excluded.ask_during_checkin, document = excluded.document
         where question.revision < excluded.revision`);
}
