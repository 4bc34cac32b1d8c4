import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import type { Files } from "@tessera/kit/files/files";
import type { Db } from "@tessera/kit/pg/database";
import { createLog } from "@tessera/kit/telemetry/log";
import type { RejectedRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import { applyRecords } from "../handlers/apply-records.ts";
import { removeUntil } from "../records/event-removal.ts";
import { send, type TestRecord } from "./records.ts";

/** A folder that is created with the first file, which few tests have. */
const neverMade = diskFiles({ directory: join(tmpdir(), "tessera-answers-of-tests") });

/** Errors by line, by field. */
export type Rejections = Record<number, Record<string, string[]>>;

export interface BoxOffice {
  /** Applies a batch of records and returns errors or warnings. */
  apply(...records: TestRecord[]): Promise<Rejections>;
  /** The same, separately. */
  applyApart(...records: TestRecord[]): Promise<{ readonly rejected: Rejections; readonly warned: Rejections }>;
  /** Log lines. */
  readonly logged: readonly string[];
}

/** Makes a handler on a database, to be called with records as tests write them. */
export function boxOfficeOn(db: Db, { files = neverMade }: { files?: Files } = {}): BoxOffice {
  const logged: string[] = [];
  const log = createLog({ service: "test", destination: { write: (line) => logged.push(line) } });
  const office: BoxOffice = {
    logged,
    async apply(...records) {
      const { rejected, warned } = await office.applyApart(...records);
      return { ...rejected, ...warned };
    },
    async applyApart(...records) {
      const sent = send(records);
      const { rejected, warned } = await applyRecords({ records: sent }, { db, files, log });
      // Like the workers.
      await removeUntil(db, [...new Set(sent.map(({ organizer }) => organizer))], () => false);
      return { rejected: byLine(rejected), warned: byLine(warned?.records ?? []) };
    },
  };
  return office;
}

function byLine(records: readonly RejectedRecord[]): Rejections {
  return Object.fromEntries(
    records.map(({ line, errors }) => [
      line,
      Object.fromEntries(errors.map(({ field, messages }) => [field, messages])),
    ]),
  );
}
