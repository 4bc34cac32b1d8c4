import type { Clock } from "@tessera/kit/clock";
import type { Files } from "@tessera/kit/files/files";
import type { Job } from "@tessera/kit/jobs";
import type { Db } from "@tessera/kit/pg/database";
import { answerFilesPrefix, isKeyOfFile } from "../records/answer-file.ts";
import { findNamed } from "../store/answer-files.ts";

export interface AnswerFileStores {
  readonly db: Db;
  readonly files: Files;
  readonly clock: Clock;
}

const minuteMs = 60_000;

/** Few enough that no store has to remove too many at once. */
const atOnce = 500;

/** No batch of records takes so long from storing its files to naming them in rows, unless it has ended in between. */
const abandonedAfterMicros = 3_600_000_000;

/**
 * Removes files of answers that no row names: those of records that were refused, of batches that were cut off, and of
 * answers that are gone. A key is named by rows once at most, so what no row names after that time, no row will name.
 * Any number of replicas may do it at a time.
 */
export function removeAnswerFiles({ db, files, clock }: AnswerFileStores): Job {
  return {
    name: "remove-answer-files",
    everyMs: 15 * minuteMs,
    async run(signal) {
      const line = clock.now() - abandonedAfterMicros;
      let old: string[] = [];
      for await (const { key, storedAt } of files.list(answerFilesPrefix)) {
        if (signal.aborted) return;
        if (isKeyOfFile(key) && storedAt < line) old.push(key);
        if (old.length < atOnce) continue;
        await removeUnnamed({ db, files }, old);
        old = [];
      }
      if (old.length > 0) await removeUnnamed({ db, files }, old);
    },
  };
}

async function removeUnnamed({ db, files }: Pick<AnswerFileStores, "db" | "files">, keys: readonly string[]) {
  const named = await findNamed(db, keys);
  await files.remove(keys.filter((key) => !named.has(key)));
}
