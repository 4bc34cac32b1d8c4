import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, bytea, rowsAs, table, text } from "@tessera/kit/pg/table";
import type { Scope } from "../domain/scope.ts";

export interface AnswerPlace {
  readonly position: number;
  readonly question: number;
}

/** The location and the metadata of an answer's file. */
export interface StoredAnswerFile {
  readonly fileKey: string;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
}

export interface AnswerFileRow extends AnswerPlace, StoredAnswerFile {}

export const answerKey = { organizer: text, event: text, position: bigint, question: bigint };

const recordedFiles = table("answer_file", {
  key: answerKey,
  columns: { fileKey: text, name: text, contentType: text, size: bigint, sha256: bytea },
});

/** Replaces the files of positions from records; files that are not named are deleted. */
export async function replace(
  tx: Tx,
  { organizer, event }: Scope,
  { positions, files }: { positions: readonly number[]; files: readonly AnswerFileRow[] },
): Promise<void> {
  if (positions.length === 0) return;
  await tx.run(sql`
    delete from answer_file
     where answer_file.organizer = ${organizer}
       and answer_file.event = ${event}
       and answer_file.position = any(${positions}::bigint[])
       and not exists (select
                         from ${rowsAs("kept", { position: bigint, question: bigint }, files)}
                        where kept.position = answer_file.position
                          and kept.question = answer_file.question)`);
  await recordedFiles.upsert(
    tx,
    files.map((file) => ({ ...file, organizer, event, sha256: Buffer.from(file.sha256, "hex") })),
  );
}

/**
 * The current files of answers, from records or gates.
 *
 * The row of a record's file stays when a gate answers the question, but never counts again: a changed answer of the
 * record deletes the gate's answer, and has another file or none.
 */
const currentFiles = sql`
  (select answer_file.organizer, answer_file.event, answer_file.position, answer_file.question,
          answer_file.file_key as "fileKey", answer_file.name, answer_file.content_type as "contentType",
          answer_file.size, encode(answer_file.sha256, 'hex') as sha256
     from answer_file
    where not exists (select
                        from gate_answer
                       where gate_answer.organizer = answer_file.organizer
                         and gate_answer.event = answer_file.event
                         and gate_answer.position = answer_file.position
                         and gate_answer.question = answer_file.question
                         and gate_answer.revision is not null)
    union all
   select gate_answer.organizer, gate_answer.event, gate_answer.position, gate_answer.question,
          gate_answer.file ->> 'fileKey', gate_answer.file ->> 'name', gate_answer.file ->> 'contentType',
          (gate_answer.file ->> 'size')::bigint, gate_answer.file ->> 'sha256'
     from gate_answer
    where gate_answer.file is not null) as current_file`;

export async function findOfPositions(
  db: Queryable,
  { organizer, event }: Scope,
  positions: readonly number[],
): Promise<AnswerFileRow[]> {
  return db.many<AnswerFileRow>(sql`
    select current_file.position, current_file.question, current_file."fileKey", current_file.name,
           current_file."contentType", current_file.size, current_file.sha256
      from ${currentFiles}
     where current_file.organizer = ${organizer}
       and current_file.event = ${event}
       and current_file.position = any(${positions}::bigint[])`);
}

/** Finds the file of an answer; undefined: the answer is no file. */
export async function find(
  db: Queryable,
  scope: Scope,
  { position, question }: AnswerPlace,
): Promise<StoredAnswerFile | undefined> {
  return (await findOfPositions(db, scope, [position])).find((file) => file.question === question);
}

/** Finds which of these keys belong to current files. */
export async function findNamed(db: Queryable, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ fileKey: string }>(sql`
    select current_file."fileKey"
      from ${currentFiles}
     where current_file."fileKey" = any(${keys}::text[])`);
  return new Set(rows.map(({ fileKey }) => fileKey));
}
