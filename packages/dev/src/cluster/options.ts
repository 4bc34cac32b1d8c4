import type { OptionValues } from "@tessera/cli/command/options";
import { fillOptions } from "@tessera/cli/serve/serve-options";

/** The options of `npm run cluster`. */
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
  ...fillOptions,
} as const;

export type ClusterValues = OptionValues<typeof clusterOptions>;
