import type { Files } from "@tessera/kit/files/files";
import type { Db } from "@tessera/kit/pg/database";
import type {
  FoundAnswerFile,
  GetAnswerFileRequest,
  GetAnswerFileResponse,
  GetAnswerFilesRequest,
  GetAnswerFilesResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/answer_files";
import { fault } from "../faults.ts";
import { type AnswerPlace, find, findOfPositions, type StoredAnswerFile } from "../store/stored-answer-files.ts";

/** A file that is replaced during the read is read again; it is never replaced this often in a row. */
const mostReads = 3;

/** Reads a file from the store; undefined: the file is gone. */
async function readStored(
  { fileKey, name, contentType, size }: StoredAnswerFile,
  files: Files,
): Promise<GetAnswerFileResponse | undefined> {
  const content = await files.read(fileKey, size);
  return content === undefined ? undefined : { name, contentType, content };
}

export async function getAnswerFile(
  { organizer, event, position, question }: GetAnswerFileRequest,
  { db, files }: { db: Db; files: Files },
): Promise<GetAnswerFileResponse> {
  for (let reads = 0; reads < mostReads; reads += 1) {
    const stored = await find(db, { organizer, event }, { position, question });
    if (stored === undefined) {
      throw fault("answer_file_not_found", "This question is not answered with a file here.");
    }
    const file = await readStored(stored, files);
    if (file !== undefined) return file;
  }
  throw fault("answer_file_missing", "the store for files does not have this file", {
    retryAfterMs: 1000,
  });
}

const mostAnswers = 100;

/** Beyond this size an answer gets no further file: it is in memory as a whole. */
const mostBytes = 4 * 1024 * 1024;

/** Gets the files of many answers, as far as there is room. */
export async function getAnswerFiles(
  { organizer, event, answers }: GetAnswerFilesRequest,
  { db, files }: { readonly db: Db; readonly files: Files },
): Promise<GetAnswerFilesResponse> {
  if (answers.length > mostAnswers)
    throw fault("too_many_answer_files", `ask for the files of ${mostAnswers} answers at most`);
  const scope = { organizer, event };
  const positions = [...new Set(answers.map(({ position }) => position))];
  const found = await findOfPositions(db, scope, positions);
  const stored = new Map(found.map((file) => [keyOf(file), file]));
  let bytes = 0;
  const fitting = answers.findIndex((answer, index) => {
    bytes += stored.get(keyOf(answer))?.size ?? 0;
    return index > 0 && bytes > mostBytes;
  });
  const asked = fitting === -1 ? answers : answers.slice(0, fitting);
  const read = async (answer: AnswerPlace): Promise<FoundAnswerFile> => {
    const file = stored.get(keyOf(answer));
    if (file === undefined) return { file: undefined };
    // A file that was replaced during the read is looked up again.
    return { file: (await readStored(file, files)) ?? (await getAnswerFile({ ...scope, ...answer }, { db, files })) };
  };
  return { files: await Promise.all(asked.map(read)) };
}

function keyOf({ position, question }: AnswerPlace): string {
  return `${position}/${question}`;
}
