import { type FileStores, removeUnnamedJob } from "@tessera/kit/files/remove-unnamed";
import type { Job } from "@tessera/kit/jobs/interval";
import { answerFilesPrefix, isKeyOfFile } from "../records/answer-file.ts";
import { findNamed } from "../store/stored-answer-files.ts";

/**
 * Deletes files that no current answer names: of rejected records, of interrupted batches and of former answers. A key
 * is used at most once, so a file without an answer after an hour stays without. Replicas may run it concurrently.
 */
export function removeAnswerFiles({ db, ...stores }: FileStores): Job {
  return removeUnnamedJob(stores, {
    name: "remove-answer-files",
    everyMinutes: 15,
    prefix: answerFilesPrefix,
    isOurs: isKeyOfFile,
    findNamed: (keys) => findNamed(db, keys),
  });
}
