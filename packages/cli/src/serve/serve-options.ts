import type { OptionValues } from "../command/options.ts";

/** The options of every verb that starts the platform with data. */
export const fillOptions = {
  fresh: {
    type: "boolean",
    default: false,
    help: "delete database, files, keys and log of the data folder first; a terminal is asked",
  },
  demo: { type: "boolean", default: false, help: "load a small demo; --no-demo leaves it out" },
  import: { type: "string", value: "FILE", help: "import records from a file after the start" },
  "database-url": {
    type: "string",
    value: "URL",
    help: "an existing PostgreSQL instead of the embedded one (default DATABASE_URL, which hides a password from the list of processes)",
  },
} as const;

/** The options of `tessera serve`. */
export const serveOptions = {
  port: { type: "string", value: "N", help: "where REST is served (default HTTP_PORT, else 8000)" },
  data: {
    type: "string",
    value: "DIR",
    help: "the folder for data, keys and log (default .tessera)",
  },
  ...fillOptions,
  transport: {
    type: "string",
    value: "KIND",
    help: "how services call each other: grpc, or inprocess where all are in this process",
  },
  bus: { type: "string", value: "KIND", help: "what transports facts: memory or kafka (default BUS, else memory)" },
  cache: { type: "string", value: "KIND", help: "memory or redis (default CACHE, else memory)" },
  files: { type: "string", value: "KIND", help: "where files are stored: disk or s3 (default FILES, else disk)" },
  "log-file": {
    type: "string",
    value: "FILE",
    help: "where log lines go; - is standard output (default: the data folder)",
  },
} as const;

export type ServeValues = OptionValues<typeof serveOptions>;
