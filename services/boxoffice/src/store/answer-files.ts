import { toByteaArray } from "@tessera/kit/pg/binary-array";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

/** Which answer of an event. */
export interface AnswerPlace {
  readonly position: number;
  readonly question: number;
}

/** Where the file of an answer is, and what it is. */
export interface StoredAnswerFile {
  readonly fileKey: string;
  readonly name: string;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

export interface AnswerFileRow extends AnswerPlace, StoredAnswerFile {}

/** Everything that positions answer with files from now on. */
export interface AnswerFilesOfPositions {
  readonly positions: readonly number[];
  readonly files: readonly AnswerFileRow[];
  /** Files that stay as they are. */
  readonly kept: readonly AnswerPlace[];
}

/** Replaces the files of positions; files that are not named go. */
export async function replace(
  tx: Tx,
  { organizer, event }: Scope,
  { positions, files, kept }: AnswerFilesOfPositions,
): Promise<void> {
  if (positions.length === 0) return;
  const staying = [...files, ...kept];
  await tx.run(sql`
    delete from answer_file
     where answer_file.organizer = ${organizer}
       and answer_file.event = ${event}
       and answer_file.position = any(${positions}::bigint[])
       and not exists (select
                         from unnest(${staying.map((file) => file.position)}::bigint[],
                                     ${staying.map((file) => file.question)}::bigint[]) as staying (position, question)
                        where staying.position = answer_file.position
                          and staying.question = answer_file.question)`);
  await put(
    tx,
    files.map((file) => ({ organizer, event, ...file })),
  );
}

/** Stores files in the place of earlier ones of the same answers. */
export async function put(tx: Tx, files: readonly (Scope & AnswerFileRow)[]): Promise<void> {
  if (files.length === 0) return;
  await tx.run(sql`
    insert into answer_file (organizer, event, position, question, file_key, name, content_type, size, sha256)
    select sent.organizer, sent.event, sent.position, sent.question, sent.file_key, sent.name, sent.content_type,
           sent.size, sent.sha256
      from unnest(${files.map((file) => file.organizer)}::text[],
                  ${files.map((file) => file.event)}::text[],
                  ${files.map((file) => file.position)}::bigint[],
                  ${files.map((file) => file.question)}::bigint[],
                  ${files.map((file) => file.fileKey)}::text[],
                  ${files.map((file) => file.name)}::text[],
                  ${files.map((file) => file.contentType)}::text[],
                  ${files.map((file) => file.size)}::bigint[],
                  ${toByteaArray(files.map((file) => Buffer.from(file.sha256, "hex")))}::bytea[])
           as sent (organizer, event, position, question, file_key, name, content_type, size, sha256)
        on conflict (organizer, event, position, question) do update
       set file_key = excluded.file_key,
           name = excluded.name,
           content_type = excluded.content_type,
           size = excluded.size,
           sha256 = excluded.sha256`);
}

interface Row {
  readonly file_key: string;
  readonly name: string;
  readonly content_type: string;
  readonly size: number;
  readonly sha256: string;
}

function toStored(row: Row): StoredAnswerFile {
  return {
    fileKey: row.file_key,
    name: row.name,
    contentType: row.content_type,
    size: row.size,
    sha256: row.sha256,
  };
}

/** The files of some positions. */
export async function readOfPositions(
  db: Queryable,
  { organizer, event }: Scope,
  positions: readonly number[],
): Promise<AnswerFileRow[]> {
  const rows = await db.many<Row & AnswerPlace>(sql`
    select answer_file.position, answer_file.question, answer_file.file_key, answer_file.name, answer_file.content_type,
           answer_file.size, encode(answer_file.sha256, 'hex') as sha256
      from answer_file
     where answer_file.organizer = ${organizer}
       and answer_file.event = ${event}
       and answer_file.position = any(${positions}::bigint[])`);
  return rows.map((row) => ({ position: row.position, question: row.question, ...toStored(row) }));
}

/** The file of an answer; undefined where it is none. */
export async function find(
  db: Queryable,
  { organizer, event }: Scope,
  { position, question }: AnswerPlace,
): Promise<StoredAnswerFile | undefined> {
  const row = await db.maybeOne<Row>(sql`
    select answer_file.file_key, answer_file.name, answer_file.content_type, answer_file.size,
           encode(answer_file.sha256, 'hex') as sha256
      from answer_file
     where answer_file.organizer = ${organizer}
       and answer_file.event = ${event}
       and answer_file.position = ${position}
       and answer_file.question = ${question}`);
  return row === undefined ? undefined : toStored(row);
}

/** Those of some keys that rows name. */
export async function findNamed(db: Queryable, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ file_key: string }>(sql`
    select answer_file.file_key
      from answer_file
     where answer_file.file_key = any(${keys}::text[])`);
  return new Set(rows.map((row) => row.file_key));
}
