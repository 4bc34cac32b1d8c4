import { randomUUID } from "node:crypto";
import { isTransient } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import type { Job } from "@tessera/kit/jobs/interval";
import type { Log } from "@tessera/kit/log";
import type { Db } from "@tessera/kit/pg/database";
import { GivenAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import { isFileType, keyOfFile, nameFile } from "../records/answer-file.ts";
import { type CopiedFile, settleFiles } from "../records/gate-answers.ts";
import type { StoredAnswerFile } from "../store/answer-files.ts";
import { type AwaitedAnswer, claimAwaited } from "../store/gate-answers.ts";

export interface GateFileStores {
  readonly db: Db;
  readonly files: Files;
  readonly log: Log;
}

/** Visitors look at their answers moments later. */
const everyMs = 1000;

/** Few enough that all are copied long before others may take them. */
const atOnce = 8;

/** Whoever has not copied a file by then has ended, or the store is away: it is tried again. */
const claimedSeconds = 60;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Copies files that answers were given with at a gate from where uploads lie, which they leave after a while.
 *
 * First the bytes, under a key of their own each time, then the row that names them. Whoever ends in between leaves
 * bytes that another job removes, and an answer that is taken again. Any number of replicas may do it at a time.
 */
export function copyGateFiles({ db, files, log }: GateFileStores): Job {
  return {
    name: "copy-gate-files",
    everyMs,
    async run(signal) {
      while (!signal.aborted) {
        const awaited = await claimAwaited(db, { most: atOnce, seconds: claimedSeconds });
        if (awaited.length === 0) return;
        const copied = (await Promise.all(awaited.map((answer) => tryCopy(answer, { files, log })))).flat();
        if (copied.length > 0) await settle(copied);
      }
    },
  };

  async function settle(copied: readonly CopiedFile[]): Promise<void> {
    try {
      await db.transaction((tx) => settleFiles(tx, copied));
    } catch (error) {
      if (!isTransient(error)) throw error;
      log.warn("copied files wait for their events, which others are changing; they are copied again", { error });
    }
  }
}

/** Empty: it failed, and is tried again later. */
async function tryCopy(answer: AwaitedAnswer, { files, log }: Omit<GateFileStores, "db">): Promise<CopiedFile[]> {
  const { organizer, event, position, question } = answer;
  const place = { organizer, event, position, question };
  try {
    const stored = await copy(answer, files);
    if (stored === undefined) log.warn("the file of an answer is gone; what was answered before stands", place);
    return [{ ...answer, stored }];
  } catch (error) {
    log.warn("the file of an answer could not be copied; it is tried again", { ...place, error });
    return [];
  }
}

async function copy(answer: AwaitedAnswer, files: Files): Promise<StoredAnswerFile | undefined> {
  const { file } = GivenAnswer.decode(answer.state);
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
