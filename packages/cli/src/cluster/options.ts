import type { OptionValues } from "../options.ts";

/** The options of `tessera cluster`. */
export const clusterOptions = {
  port: {
    type: "string",
    value: "N",
    default: "8000",
    help: "where the first gateway answers; health listens 100 above, gRPC 200 above (default 8000)",
  },
  data: {
    type: "string",
    value: "DIR",
    default: ".tessera/cluster",
    help: "the folder for data, keys and logs (default .tessera/cluster)",
  },
  fresh: { type: "boolean", default: false, help: "start with an empty database" },
  demo: { type: "boolean", default: false, help: "load a small demo; --no-demo leaves it out" },
  import: { type: "string", value: "FILE", help: "import records from a file after the start" },
  "database-url": {
    type: "string",
    value: "URL",
    help: "an existing PostgreSQL instead of the embedded one (default DATABASE_URL)",
  },
} as const;

export type ClusterValues = OptionValues<typeof clusterOptions>;
