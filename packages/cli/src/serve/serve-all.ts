import { resolve } from "node:path";
import { type Environment, readConfig } from "@tessera/kit/config/config";
import { foldOutages } from "@tessera/kit/telemetry/fold-outages";
import { createLog, type Log } from "@tessera/kit/telemetry/log";
import { onDatabase } from "../command/on-database.ts";
import { readDatabaseUrl, readPort } from "../command/options.ts";
import { showProgress } from "../command/progress.ts";
import { processSettings } from "../configuration/engine-settings.ts";
import { environmentOfAll, ownUrl } from "../configuration/served-environment.ts";
import { fault } from "../faults.ts";
import { type LocalData, openLocalData } from "../local/local-data.ts";
import { openLocalDatabase, requireEmbedded } from "../local/local-database.ts";
import { findLocalPlatform, noteLocalPlatform } from "../local/local-platform.ts";
import { migrateAll } from "../migrate.ts";
import { applyCatalogue } from "../topics/catalogue.ts";
import { announce } from "./announce.ts";
import { choosePort, isFree } from "./choose-port.ts";
import { confirmFresh } from "./confirm-fresh.ts";
import { demoBoardLink } from "./demo-board-link.ts";
import { demoPageLink } from "./demo-page-link.ts";
import { fill, keptDemoKeys } from "./fill.ts";
import { openLogFile } from "./log-file.ts";
import { startPlatform } from "./platform.ts";
import type { ServeValues } from "./serve-options.ts";

const names = ["all"];
const usualPort = 8000;
const usualData = ".tessera";

/** Runs the whole platform in this process, and prepares database, schemas and demo. */
export async function serveAll(
  values: ServeValues,
  options: { environment: Environment; transport: "grpc" | "inprocess" | undefined; signal: AbortSignal },
): Promise<{ stop(): Promise<void> }> {
  const { signal } = options;
  const progress = showProgress();
  const directory = resolve(values.data ?? usualData);
  const databaseUrl = readDatabaseUrl(values["database-url"], options.environment);
  if (values.fresh) requireEmbedded(databaseUrl);
  await requireStopped(directory);
  const port = await readOrChoosePort(values.port ?? options.environment["HTTP_PORT"], options.environment);
  if (values.fresh) await confirmFresh(directory);
  // After everything that can be refused: with --fresh this deletes data.
  const data = await openLocalData({ directory, fresh: values.fresh });
  const { operatorKey, madeOperatorKey } = await data.operatorKey(options.environment);
  const log = await openLog(values, { data, environment: options.environment });
  const undo: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
    await log.written();
  };
  try {
    progress.update("starting PostgreSQL…");
    const database = await openLocalDatabase({
      url: databaseUrl,
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
    const environment = environmentOfAll(options.environment, {
      port: String(port),
      files: data.files,
      operatorKey,
      demoKeys: values.demo ? await keptDemoKeys(data) : undefined,
    });
    const operationsPort = await chooseOperationsPort(options.environment, data);
    const platform = await onDatabase(database.url, () =>
      startPlatform({
        names,
        environment,
        databaseUrl: database.url,
        ...(options.transport === undefined ? {} : { transport: options.transport }),
        operationsPort,
        log: log.log,
      }),
    );
    undo.push(() => platform.stop());
    await data.keepOperationsPort(platform.operationsPort);
    const url = ownUrl(environment.HTTP_HOST, port);
    const keys = await fill({ url, operatorKey, demo: values.demo, file: values.import, data, progress, signal });
    const baseUrl = environment.BASE_URL.replace(/\/+$/, "");
    const note = await noteLocalPlatform(data.directory, {
      url,
      baseUrl,
      processes: [{ name: "all", operationsPort: platform.operationsPort }],
      isKeyInFolder: madeOperatorKey !== undefined,
    });
    undo.push(() => note.forget());
    const pageLink = keys === undefined ? undefined : await demoPageLink({ url, operatorKey, data });
    const boardLink = keys === undefined ? undefined : await demoBoardLink({ url, baseUrl, operatorKey, data });
    progress.done();
    await announce({
      baseUrl,
      operationsPort: platform.operationsPort,
      madeOperatorKey,
      logFile: log.file,
      data: directory,
      isUsualData: directory === resolve(usualData),
      demoKeys: keys,
      pageLink,
      boardLink,
    });
    return { stop };
  } catch (error) {
    progress.done();
    await stop();
    if (signal.aborted) return { stop: async () => {} };
    throw error;
  }
}

/** Refuses a data folder of a platform that runs. */
async function requireStopped(directory: string): Promise<void> {
  const running = await findLocalPlatform(directory);
  if (running === undefined) return;
  throw fault(
    "platform_running",
    `Tessera runs on the data folder ${directory} already, at ${running.url} (process ${running.pid}); stop it, or choose another folder with --data DIR`,
  );
}

/** The configured port, else the last one if it is free, else any. */
async function chooseOperationsPort(environment: Environment, data: LocalData): Promise<number> {
  const set = environment["METRICS_PORT"];
  if (set) return readPort("METRICS_PORT", set, { lowest: 0 });
  const kept = await data.operationsPort();
  const { metricsHost } = readConfig(processSettings, environment);
  return kept !== undefined && (await isFree(kept, metricsHost)) ? kept : 0;
}

/** A person at a terminal gets another port if the usual one is taken; a program gets the usual one or an error. */
async function readOrChoosePort(given: string | undefined, environment: Environment): Promise<number> {
  const host = environment["HTTP_HOST"] || "127.0.0.1";
  const wanted = readPort("--port", given || String(usualPort));
  if (await isFree(wanted, host)) return wanted;
  const mayChange = !given && process.stderr.isTTY && !environment["BASE_URL"];
  const port = mayChange ? await choosePort(wanted, host) : wanted;
  // Checked before the slow start.
  if (port === wanted)
    throw fault(
      "port_in_use",
      `port ${wanted} is taken by another program; stop it, or choose another port with --port N`,
    );
  process.stderr.write(`Port ${wanted} is taken by another program; this start uses ${port}.\n`);
  return port;
}

/** `written` resolves when every line is written. */
async function openLog(
  values: ServeValues,
  { data, environment }: { data: LocalData; environment: Environment },
): Promise<{ log: Log; file: string | undefined; written(): Promise<void> }> {
  const file = values["log-file"] ?? data.logFile;
  const level = readConfig(processSettings, environment).logLevel;
  const destination = file === "-" ? undefined : await openLogFile(file);
  return {
    log: foldOutages(createLog({ service: "tessera", level, ...(destination === undefined ? {} : { destination }) })),
    file: destination && file,
    written: destination?.written ?? (async () => {}),
  };
}
