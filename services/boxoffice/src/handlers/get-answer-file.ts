import type { Files } from "@tessera/kit/files/files";
import type { Db } from "@tessera/kit/pg/database";
import type {
  GetAnswerFileRequest,
  GetAnswerFileResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/answer_files";
import { fault } from "../faults.ts";
import { find, type StoredAnswerFile } from "../store/answer-files.ts";

/** A file that is replaced during the read is read again; it is never replaced this often in a row. */
const mostReads = 3;

/** Reads a file from the store; undefined: the file is gone. */
export async function readStored(
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
