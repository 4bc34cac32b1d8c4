import { createReadStream, createWriteStream } from "node:fs";
import { resolve } from "node:path";
import { Fault } from "@tessera/kit/fault";
import { createLog, type Log } from "@tessera/kit/log";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@tessera/kit/pg/embedded";
import { announce } from "./announce.ts";
import { demo, demoStream } from "./demo.ts";
import { report, sendRecords } from "./import.ts";
import { type LocalData, openLocalData } from "./local-data.ts";
import { migrateAll } from "./migrate.ts";
import { readOptions } from "./options.ts";
import { startPlatform } from "./platform.ts";
import { type Progress, showProgress } from "./progress.ts";
import { services } from "./services.ts";

const usage = `tessera serve all | NAME…  [OPTIONS]

Runs services in this process: ${Object.keys(services).join(", ")}.
Without a database URL, \`serve all\` brings its own PostgreSQL and keeps its data in a folder.`;

const options = {
  port: { type: "string", value: "N", help: "where REST is served (default HTTP_PORT, else 8000)" },
  data: {
    type: "string",
    value: "DIR",
    default: ".tessera",
    help: "the folder for data, keys and log (default .tessera)",
  },
  fresh: { type: "boolean", default: false, help: "start with an empty database" },
  demo: { type: "boolean", default: false, help: "load a small demo; --no-demo leaves it out" },
  import: { type: "string", value: "FILE", help: "import records from a file after the start" },
  "database-url": {
    type: "string",
    value: "URL",
    help: "an existing PostgreSQL instead of the embedded one (default DATABASE_URL)",
  },
  transport: {
    type: "string",
    value: "KIND",
    default: "inprocess",
    help: "how services of this process call each other: inprocess or grpc",
  },
  "log-file": {
    type: "string",
    value: "FILE",
    help: "where log lines go; - is standard output (default: the data folder)",
  },
} as const;

type Values = NonNullable<ReturnType<typeof readOptions<typeof options>>>["values"];

/** Runs until a signal: the first stops in order, the second at once. */
export async function serve(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const { values, names } = read;
  if (names.length === 0)
    throw new Fault(
      "invalid",
      "no_services",
      `name what to serve: all, or some of ${Object.keys(services).join(", ")}`,
    );
  const stopping = onSignal();
  const started = await start(values, names, stopping.signal);
  await stopping.requested;
  await started.stop();
}

interface Started {
  stop(): Promise<void>;
}

async function start(values: Values, names: string[], signal: AbortSignal): Promise<Started> {
  const progress = showProgress();
  const data = await openLocalData({ directory: resolve(values.data), fresh: values.fresh });
  const port = readPort(values.port ?? process.env["HTTP_PORT"] ?? "8000");
  const operatorKey = process.env["TESSERA_OPERATOR_KEY"] ?? (await data.keptSecret("operator-key"));
  const log = openLog(values, data);
  const undo: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    progress.update("starting PostgreSQL…");
    const database = await openDatabaseServer(values, data, log);
    if (database.embedded !== undefined) undo.push(() => database.embedded?.stop() ?? Promise.resolve());
    signal.throwIfAborted();
    progress.update("preparing the database…");
    await migrateAll({ url: database.url, names });
    progress.update("starting services…");
    const environment = {
      HTTP_HOST: "127.0.0.1",
      BASE_URL: `http://localhost:${port}`,
      ...process.env,
      HTTP_PORT: String(port),
      OPERATOR_KEY: operatorKey,
    };
    const platform = await startPlatform({
      names,
      environment,
      databaseUrl: database.url,
      transport: readTransport(values.transport),
      operations: {
        host: process.env["METRICS_HOST"] ?? "127.0.0.1",
        port: Number(process.env["METRICS_PORT"] ?? (names.includes("all") ? 0 : 9090)),
      },
      grpc: { host: process.env["GRPC_HOST"] ?? "0.0.0.0", port: Number(process.env["GRPC_PORT"] ?? 50051) },
      log: log.log,
    });
    undo.push(() => platform.stop());
    const baseUrl = environment.BASE_URL;
    const importing = { url: ownUrl(environment.HTTP_HOST, port), key: operatorKey, signal };
    const keys = values.demo ? await loadDemo({ ...importing, data, progress }) : undefined;
    if (values.import !== undefined) {
      progress.update(`importing ${values.import}…`);
      const answer = await sendRecords(createReadStream(values.import), importing);
      progress.done();
      report(answer);
    }
    progress.done();
    announce({
      baseUrl,
      operationsPort: platform.operationsPort,
      operatorKey,
      logFile: log.file,
      ...(keys === undefined ? {} : { demoKeys: keys }),
    });
    return { stop };
  } catch (error) {
    progress.done();
    await stop();
    if (signal.aborted) return { stop: async () => {} };
    throw error;
  }
}

function openLog(values: Values, data: LocalData): { log: Log; file: string | undefined } {
  const file = values["log-file"] ?? data.logFile;
  if (file === "-") return { log: createLog({ service: "tessera" }), file: undefined };
  const stream = createWriteStream(file, { flags: "a", mode: 0o600 });
  return {
    log: createLog({ service: "tessera", destination: { write: (line: string) => void stream.write(line) } }),
    file,
  };
}

async function openDatabaseServer(
  values: Values,
  data: LocalData,
  log: { log: Log },
): Promise<{ url: string; embedded?: EmbeddedPostgres }> {
  const url = values["database-url"] ?? process.env["DATABASE_URL"];
  if (url !== undefined) {
    if (values.fresh)
      throw new Fault(
        "invalid",
        "fresh_needs_embedded",
        "--fresh empties only the embedded database; empty the database of --database-url yourself",
      );
    return { url };
  }
  const embedded = await startEmbeddedPostgres({
    directory: data.database,
    fresh: values.fresh,
    log: (line: string) => log.log.info("embedded PostgreSQL", { line }),
  });
  return { url: embedded.url, embedded };
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new Fault("invalid", "bad_port", "--port takes a whole number from 1 to 65535");
  return port;
}

function readTransport(text: string): "grpc" | "inprocess" {
  if (text === "grpc" || text === "inprocess") return text;
  throw new Fault("invalid", "bad_transport", "--transport takes grpc or inprocess");
}

/** Where this very process answers, whatever its public address. */
function ownUrl(host: string, port: number): string {
  return `http://${host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host}:${port}`;
}

/** Loads the demo unless it is there. Its list comes last, so a demo with a list is whole. */
async function loadDemo(options: {
  url: string;
  key: string;
  signal: AbortSignal;
  data: LocalData;
  progress: Progress;
}): Promise<{ apiKey: string; deviceKey: string }> {
  const { url, key, signal, data, progress } = options;
  const keys = { apiKey: await data.keptSecret("demo-api-key"), deviceKey: await data.keptSecret("demo-device-key") };
  const list = new URL(`/api/v1/organizers/${demo.organizer}/events/${demo.event}/checkinlists/${demo.list}/`, url);
  const found = await fetch(list, { headers: { authorization: `Token ${keys.apiKey}` } });
  await found.arrayBuffer();
  if (found.status === 200) return keys;
  progress.update("loading the demo…");
  const answer = await sendRecords(demoStream(keys), { url, key, signal });
  if (answer.rejected > 0) throw new Error(`the demo was not taken whole: ${JSON.stringify(answer.errors[0])}`);
  return keys;
}

/** First signal: stop in order. A second one: at once, with the status that the signal stands for. */
function onSignal(): { requested: Promise<void>; signal: AbortSignal } {
  const controller = new AbortController();
  const requested = new Promise<void>((resolveRequested) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) {
      process.on(name, () => {
        if (controller.signal.aborted) process.exit(name === "SIGINT" ? 130 : 143);
        controller.abort();
        resolveRequested();
      });
    }
  });
  return { requested, signal: controller.signal };
}
