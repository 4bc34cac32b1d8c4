import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/disk";
import type { Files } from "@tessera/kit/files/files";
import { createLog } from "@tessera/kit/log";
import type { Db } from "@tessera/kit/pg/database";
import { applyRecords } from "../handlers/apply-records.ts";
import { removeUntil } from "../records/event-removal.ts";
import { send, type TestRecord } from "./records.ts";

/** A folder that comes up with the first file, which few tests have. */
const neverMade = diskFiles({ directory: join(tmpdir(), "tessera-answers-of-tests") });

/** Errors by line, by field. */
export type Rejections = Record<number, Record<string, string[]>>;

export interface BoxOffice {
  /** Applies a batch of records and returns what was rejected. */
  apply(...records: TestRecord[]): Promise<Rejections>;
  /** What was logged, line by line. */
  readonly logged: readonly string[];
}

/** Makes a handler on a database, to be called with records as tests write them. */
export function boxOfficeOn(db: Db, { files = neverMade }: { files?: Files } = {}): BoxOffice {
  const logged: string[] = [];
  const log = createLog({ service: "test", destination: { write: (line) => logged.push(line) } });
  return {
    logged,
    async apply(...records) {
      const sent = send(records);
      const { rejected } = await applyRecords({ records: sent }, { db, files, log });
      // As workers do.
      await removeUntil(db, [...new Set(sent.map(({ organizer }) => organizer))], () => false);
      return Object.fromEntries(
        rejected.map(({ line, errors }) => [
          line,
          Object.fromEntries(errors.map(({ field, messages }) => [field, messages])),
        ]),
      );
    },
  };
}
