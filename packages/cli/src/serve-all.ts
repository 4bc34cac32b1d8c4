import { resolve } from "node:path";
import type { Environment } from "@tessera/kit/config";
import { createLog, type Log } from "@tessera/kit/log";
import { announce } from "./announce.ts";
import { fill } from "./fill.ts";
import { type LocalData, openLocalData } from "./local-data.ts";
import { openLocalDatabase } from "./local-database.ts";
import { openLogFile } from "./log-file.ts";
import { migrateAll } from "./migrate.ts";
import { databaseUrlOf, readPort } from "./options.ts";
import { startPlatform } from "./platform.ts";
import { showProgress } from "./progress.ts";
import type { ServeValues } from "./serve-options.ts";
import { environmentOfAll, ownUrl } from "./served-environment.ts";
import { applyCatalogue } from "./topics/catalogue.ts";

const names = ["all"];

/** Runs the whole platform in this process, and prepares database, schemas and demo. */
export async function serveAll(
  values: ServeValues,
  options: { environment: Environment; transport: "grpc" | "inprocess" | undefined; signal: AbortSignal },
): Promise<{ stop(): Promise<void> }> {
  const { signal } = options;
  const progress = showProgress();
  const data = await openLocalData({ directory: resolve(values.data ?? ".tessera"), fresh: values.fresh });
  const port = readPort("--port", values.port ?? (options.environment["HTTP_PORT"] || "8000"));
  const { operatorKey, madeOperatorKey } = await data.operatorKey(options.environment);
  const log = await openLog(values, data);
  const undo: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
    await log.written();
  };
  try {
    progress.update("starting PostgreSQL…");
    const database = await openLocalDatabase({
      url: values["database-url"] ?? databaseUrlOf(options.environment),
      directory: data.database,
      fresh: values.fresh,
      log: log.log,
    });
    undo.push(() => database.stop());
    signal.throwIfAborted();
    progress.update("preparing the database…");
    await migrateAll({ url: database.url, names });
    if (options.environment["BUS"] === "kafka") await applyCatalogue(options.environment);
    progress.update("starting services…");
    const environment = environmentOfAll(options.environment, { port: String(port), files: data.files, operatorKey });
    const platform = await startPlatform({
      names,
      environment,
      databaseUrl: database.url,
      ...(options.transport === undefined ? {} : { transport: options.transport }),
      operationsPort: readPort("METRICS_PORT", options.environment["METRICS_PORT"] || "0", { lowest: 0 }),
      log: log.log,
    });
    undo.push(() => platform.stop());
    const url = ownUrl(environment.HTTP_HOST, port);
    const keys = await fill({ url, operatorKey, demo: values.demo, file: values.import, data, progress, signal });
    progress.done();
    announce({
      baseUrl: environment.BASE_URL,
      operationsPort: platform.operationsPort,
      madeOperatorKey,
      logFile: log.file,
      demoKeys: keys,
    });
    return { stop };
  } catch (error) {
    progress.done();
    await stop();
    if (signal.aborted) return { stop: async () => {} };
    throw error;
  }
}

/** `written` resolves when every line is written. */
async function openLog(
  values: ServeValues,
  data: LocalData,
): Promise<{ log: Log; file: string | undefined; written(): Promise<void> }> {
  const file = values["log-file"] ?? data.logFile;
  if (file === "-") return { log: createLog({ service: "tessera" }), file: undefined, written: async () => {} };
  const destination = await openLogFile(file);
  return { log: createLog({ service: "tessera", destination }), file, written: destination.written };
}
