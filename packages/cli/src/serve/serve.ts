import { readConfig } from "@tessera/kit/config/config";
import { foldOutages } from "@tessera/kit/telemetry/fold-outages";
import { createLog } from "@tessera/kit/telemetry/log";
import { onDatabase } from "../command/on-database.ts";
import { readDatabaseUrl, readOptions, readPort } from "../command/options.ts";
import { processSettings } from "../configuration/engine-settings.ts";
import { requireConfiguration } from "../configuration/require-configuration.ts";
import { environmentOfPod } from "../configuration/served-environment.ts";
import { fault } from "../faults.ts";
import { requireReadable } from "../import/import.ts";
import { requireServices, services } from "../services.ts";
import { onSignal } from "./on-signal.ts";
import { startPlatform } from "./platform.ts";
import { serveAll } from "./serve-all.ts";
import { type ServeValues, serveOptions } from "./serve-options.ts";

const usage = `tessera serve all | NAME…  [OPTIONS]

Runs services in this process: ${Object.keys(services).join(", ")}.
\`serve all\` prepares everything: without a database URL it starts its own PostgreSQL, with its data in a folder.
Single services run as in a pod, after \`tessera migrate all\` and \`tessera topics apply\`; they log to standard output
and read all other settings from their environment.`;

/** Runs until a signal. */
export async function serve(args: string[]): Promise<void> {
  const read = readOptions(usage, serveOptions, args);
  if (read === undefined) return;
  const { values, names } = read;
  if (names.length === 0)
    throw fault("no_services", `name what to serve: all, or some of ${Object.keys(services).join(", ")}`);
  requireServices(names);
  const environment = { ...process.env, ...chosenEngines(values) };
  if (values.port !== undefined) readPort("--port", values.port);
  if (!names.includes("all")) refuseOptionsOfAll(values, names);
  await requireConfiguration(names, {
    environment: { ...environment, ...given({ HTTP_PORT: values.port, DATABASE_URL: values["database-url"] }) },
    data: values.data ?? ".tessera",
  });
  if (values.import !== undefined) await requireReadable(values.import);
  const stopping = onSignal();
  const started = names.includes("all")
    ? await serveAll(values, { environment, transport: readTransport(values.transport), signal: stopping.signal })
    : await servePod(values, { names, environment });
  await stopping.requested;
  await started.stop();
}

function chosenEngines({ bus, cache, files }: ServeValues): Record<string, string> {
  return given({ BUS: bus, CACHE: cache, FILES: files });
}

function given(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function refuseOptionsOfAll(values: ServeValues, names: readonly string[]): void {
  for (const name of ["fresh", "demo", "import", "data", "log-file"] as const) {
    if (values[name]) throw fault("option_of_all", `--${name} goes with \`serve all\`, not with single services`);
  }
  if (values.port !== undefined && !names.includes("gateway"))
    throw fault("no_gateway", "--port goes with the gateway; gRPC and health have GRPC_PORT and METRICS_PORT");
}

async function servePod(
  values: ServeValues,
  { names, environment }: { names: readonly string[]; environment: NodeJS.ProcessEnv },
): Promise<{ stop(): Promise<void> }> {
  const databaseUrl = readDatabaseUrl(values["database-url"], environment);
  if (databaseUrl === undefined) throw fault("no_database_url", "set DATABASE_URL or pass --database-url");
  return onDatabase(databaseUrl, () =>
    startPlatform({
      names,
      environment: environmentOfPod({
        ...environment,
        ...(values.port === undefined ? {} : { HTTP_PORT: String(readPort("--port", values.port)) }),
      }),
      databaseUrl,
      transport: readTransport(values.transport) ?? "grpc",
      operationsPort: readPort("METRICS_PORT", environment["METRICS_PORT"] || "9090", { lowest: 0 }),
      log: foldOutages(createLog({ service: "tessera", level: readConfig(processSettings, environment).logLevel })),
    }),
  );
}

function readTransport(text: string | undefined): "grpc" | "inprocess" | undefined {
  if (text === undefined || text === "grpc" || text === "inprocess") return text;
  throw fault("bad_transport", "--transport takes grpc or inprocess");
}
