import { join } from "node:path";
import type { ImportAnswer } from "@tessera/cli/import-answer";
import { type Progress, showProgress } from "@tessera/cli/progress";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@tessera/embedded-postgres/start";
import type { Db } from "@tessera/kit/pg/database";
import getPort from "get-port";
import { type ServingProcess, startServing } from "../serving-process.ts";
import { openSchema } from "./open-schema.ts";
import { makeScratchFolder } from "./scratch-folder.ts";

export const operatorKey = "bench-operator-key-0123456789abcdef";

/** The key of the benchmarks, which may do everything with the organizer `bench`. */
export const apiKey = "bench-api-key-0123456789abcdef";

/** Writes a record of the organizer's one event. */
export function recordOf(kind: string, data: object, place: object = { event: "festival" }): string {
  return JSON.stringify({ kind, organizer: "bench", ...place, data });
}

/** The organizer with its key, its event and an item, as records. */
export const groundwork: readonly string[] = [
  recordOf("organizer", { slug: "bench", name: "Bench" }, {}),
  recordOf("api_key", { token: apiKey, name: "bench", permissions: ["*"], all_events: true }, {}),
  recordOf("event", {
    slug: "festival",
    name: { en: "Festival" },
    live: true,
    currency: "EUR",
    timezone: "Europe/Berlin",
    date_from: "2027-07-01T10:00:00Z",
    has_subevents: false,
  }),
  recordOf("item", { id: 1, name: { en: "Ticket" }, default_price: "99.00", admission: true, active: true }),
];

/** A platform in one process, with a database of its own, that holds nothing yet. */
export interface EmptyPlatform {
  readonly baseUrl: string;
  /** Deleted at the end. */
  readonly directory: string;
  readonly postgres: EmbeddedPostgres;
  readonly serving: ServingProcess;
  readonly progress: Progress;
  /** Opens the database of a service, for long statements. */
  open(schema: string): Db;
  /** Imports records in lines, and waits until they have arrived everywhere. */
  send(lines: readonly string[]): Promise<void>;
}

/** Runs a benchmark on an empty platform, of which nothing is left. */
export async function onEmptyPlatform(
  work: (platform: EmptyPlatform) => Promise<void>,
  { environment = {} }: { readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const folder = await makeScratchFolder();
  const directory = folder.path;
  const progress = showProgress();
  const postgres = await startEmbeddedPostgres({ directory });
  const port = await getPort({ host: "127.0.0.1" });
  const baseUrl = `http://127.0.0.1:${port}`;
  const opened: Db[] = [];
  let serving: ServingProcess | undefined;
  try {
    serving = await startServing(
      ["all", "--port", String(port), "--data", join(directory, "platform"), "--database-url", postgres.url],
      { url: `${baseUrl}/api/v1/openapi.json`, environment: { ...environment, TESSERA_OPERATOR_KEY: operatorKey } },
    );
    await work({
      baseUrl,
      directory,
      postgres,
      serving,
      progress,
      open(schema) {
        const db = openSchema(postgres.url, schema);
        opened.push(db);
        return db;
      },
      send: (lines) => sendRecords(baseUrl, lines),
    });
  } finally {
    progress.done();
    await Promise.all(opened.map((db) => db.close()));
    await serving?.stop();
    await postgres.stop();
    await folder.remove();
  }
}

/** Imports records in lines, and waits until they have arrived everywhere. */
export async function sendRecords(baseUrl: string, lines: readonly string[]): Promise<void> {
  const response = await fetch(`${baseUrl}/api/v1/import/`, {
    method: "POST",
    headers: { authorization: `Token ${operatorKey}`, "content-type": "application/x-ndjson" },
    body: lines.join("\n"),
  });
  const answer = (await response.json()) as Partial<ImportAnswer>;
  if (answer.rejected !== 0 || answer.settled !== true)
    throw new Error(`the import answered ${JSON.stringify(answer)}`);
}
