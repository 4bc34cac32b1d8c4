import { randomUUID } from "node:crypto";
import type { Files } from "@tessera/kit/files/files";
import { workOn } from "@tessera/kit/jobs/work-on";
import type { Db } from "@tessera/kit/pg/database";
import { GivenAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import { isFileType } from "@tessera/sent-files/file-type";
import { keyOfFile, nameFile } from "../records/answer-file.ts";
import { applyCopiedFile, gateFileCopy } from "../records/change-gate-answers.ts";
import type { BoxofficeEvents } from "../report-events.ts";
import { type AwaitedAnswer, findAwaited } from "../store/gate-answer-rows.ts";
import type { StoredAnswerFile } from "../store/stored-answer-files.ts";

export interface GateFileStores {
  readonly db: Db;
  readonly files: Files;
  readonly events: BoxofficeEvents;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Copies files of gate answers out of the uploads, which expire.
 *
 * File before row, under a new key each time: a process that ends in between leaves a file that another job deletes,
 * and work that is retried.
 */
export const copyGateFiles = workOn(
  gateFileCopy,
  async ({ payload: answer }, { db, files, events }: GateFileStores) => {
    const state = await findAwaited(db, answer);
    if (state === undefined) return async () => {};
    const given = GivenAnswer.decode(state);
    const stored = await copy(answer, { given, files });
    if (stored === undefined) events.gateFileLost(answer);
    const questionIdentifier = given.answer?.questionIdentifier ?? "";
    return async (tx) => {
      const isNamed = await applyCopiedFile(tx, { ...answer, stored, questionIdentifier });
      if (!isNamed && stored !== undefined) await files.remove([stored.fileKey]);
    };
  },
);

async function copy(
  answer: AwaitedAnswer,
  { given: { file }, files }: { given: GivenAnswer; files: Files },
): Promise<StoredAnswerFile | undefined> {
  if (file === undefined || !uuid.test(file.upload) || !isFileType(file.contentType)) return undefined;
  const found = await files.get(`uploads/${file.upload}`);
  if (found === undefined) return undefined;
  const fileKey = keyOfFile(answer, randomUUID());
  const { contentType } = file;
  try {
    const { size, sha256 } = await files.put(fileKey, found.content, { contentType });
    return { fileKey, name: nameFile(file.name, contentType), contentType, size, sha256 };
  } finally {
    found.content.destroy();
  }
}
