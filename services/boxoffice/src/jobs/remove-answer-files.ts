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
 * Deletes files that no current answer names: of rejected records, of interrupted batches and of former answers. A key
 * is used at most once, so a file without an answer after an hour stays without. Replicas may run it concurrently.
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
