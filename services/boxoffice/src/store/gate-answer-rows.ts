import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, bytea, json, table } from "@tessera/kit/pg/table";
import type { GateAnswer } from "../domain/gate-answers.ts";
import type { Scope } from "../domain/scope.ts";
import { type AnswerPlace, answerKey, type StoredAnswerFile } from "./stored-answer-files.ts";

/** A gate's answer to a question, as an encoded Answer in base64. */
export interface StoredGateAnswer extends GateAnswer<string> {
  readonly file: StoredAnswerFile | null;
}

/** The gate answers of a position; null: there were never any. */
export type StoredGateAnswers = { readonly upTo: number; readonly answers: readonly StoredGateAnswer[] } | null;

/** Reads the gate answers of a row of `position`; costs nothing if there were never any. */
export function gateAnswersOf(position: Sql): Sql {
  return sql`
    case when ${position}.answers_revision is not null then
      jsonb_build_object('upTo', ${position}.answers_revision, 'answers', array(
        select jsonb_build_object('question', gate_answer.question, 'revision', gate_answer.revision,
                                  'answer', encode(gate_answer.answer, 'base64'), 'file', gate_answer.file,
                                  'awaitedRevision', gate_answer.awaited_revision)
          from gate_answer
         where gate_answer.organizer = ${position}.organizer
           and gate_answer.event = ${position}.event
           and gate_answer.position = ${position}.id))
    end`;
}

/** Selects how many bytes the gate answers of a row of `position` have, as `bytes`. */
export function gateBytesOf(position: Sql): Sql {
  return sql`
    select case when ${position}.answers_revision is null then 0 else (
             select coalesce(sum(octet_length(gate_answer.answer)), 0)
               from gate_answer
              where gate_answer.organizer = ${position}.organizer
                and gate_answer.event = ${position}.event
                and gate_answer.position = ${position}.id)
           end as bytes`;
}

/** A row; `awaited` is the encoded GivenAnswer whose file is awaited. */
export interface GateAnswerRow extends Scope, AnswerPlace, StoredGateAnswer {
  readonly awaited: Uint8Array | null;
}

const gateAnswers = table("gate_answer", {
  key: answerKey,
  columns: {
    revision: bigint.orNull,
    answer: bytea.orNull,
    file: json<StoredAnswerFile>().orNull,
    awaited: bytea.orNull,
    awaitedRevision: bigint.orNull,
  },
});

/** Upserts gate answers; an empty row is deleted. */
export async function upsert(tx: Tx, rows: readonly GateAnswerRow[]): Promise<void> {
  const { empty = [], kept = [] } = Object.groupBy(rows, ({ revision, awaitedRevision }) =>
    revision === null && awaitedRevision === null ? "empty" : "kept",
  );
  const toBytes = (answer: string | null) => (answer === null ? null : Buffer.from(answer, "base64"));
  await gateAnswers.upsert(
    tx,
    kept.map((row) => ({ ...row, answer: toBytes(row.answer) })),
  );
  await deleteAnswers(tx, empty);
}

export async function deleteAnswers(tx: Tx, places: readonly (Scope & AnswerPlace)[]): Promise<void> {
  await gateAnswers.delete(tx, places);
}

/** An answer whose file is to be copied. */
export interface AwaitedAnswer extends Scope, AnswerPlace {
  readonly revision: number;
}

/** Reads the encoded GivenAnswer whose file is awaited; undefined: it is not awaited any more. */
export async function findAwaited(
  db: Queryable,
  { organizer, event, position, question, revision }: AwaitedAnswer,
): Promise<Uint8Array | undefined> {
  const row = await db.maybeOne<{ awaited: Uint8Array }>(sql`
    select gate_answer.awaited
      from gate_answer
     where gate_answer.organizer = ${organizer}
       and gate_answer.event = ${event}
       and gate_answer.position = ${position}
       and gate_answer.question = ${question}
       and gate_answer.awaited_revision = ${revision}`);
  return row?.awaited;
}
