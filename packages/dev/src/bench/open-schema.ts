import { createLog } from "@tessera/kit/log";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";

const longestMs = 600_000;

/** Opens the schema of a service as the service does, for long statements; the caller closes it. */
export function openSchema(url: string, schema: string): Db {
  return openDatabase({
    url,
    schema,
    role: roleOf(schema),
    applicationName: "bench",
    statementTimeoutMs: longestMs,
    log: createLog({ service: "bench", level: "warn", destination: process.stderr }),
  });
}
