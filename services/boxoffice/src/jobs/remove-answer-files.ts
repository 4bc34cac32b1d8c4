import type { Clock } from "@tessera/kit/clock";
import type { Files } from "@tessera/kit/files/files";
import { removeUnnamed } from "@tessera/kit/files/remove-unnamed";
import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { answerFilesPrefix, isKeyOfFile } from "../records/answer-file.ts";
import { findNamed } from "../store/answer-files.ts";

export interface AnswerFileStores {
  readonly db: Db;
  readonly files: Files;
  readonly clock: Clock;
}

const minuteMs = 60_000;

/**
 * Removes files of answers that no row names: those of records that were refused, of batches that were cut off, and of
 * answers that are gone. A key is named by rows once at most, so what no row names after that time, no row will name.
 * Any number of replicas may do it at a time.
 */
export function removeAnswerFiles({ db, files, clock }: AnswerFileStores): Job {
  return {
    name: "remove-answer-files",
    everyMs: 15 * minuteMs,
    run: (signal) =>
      removeUnnamed(files, {
        prefix: answerFilesPrefix,
        isOurs: isKeyOfFile,
        findNamed: (keys) => findNamed(db, keys),
        clock,
        signal,
      }),
  };
}
