import { trials } from "@tessera/cli/announce";
import { columns } from "@tessera/cli/columns";
import type { DemoKeys } from "@tessera/cli/fill";
import type { PlannedProcess } from "./plan.ts";

/** Prints what listens where, the keys, and lines to paste. */
export function printTable(options: {
  processes: readonly PlannedProcess[];
  engines: readonly (readonly [name: string, address: string])[];
  baseUrls: readonly string[];
  operatorKey: string;
  logs: string;
  keys?: DemoKeys;
}): void {
  const { processes, engines, baseUrls, keys } = options;
  const rows = [
    ["PROCESS", "REST", "gRPC", "HEALTH, METRICS"],
    ...processes.map(({ name, ports: { http, grpc, operations } }) => [
      name,
      http === undefined ? "" : `http://127.0.0.1:${http}`,
      `127.0.0.1:${grpc}`,
      `http://127.0.0.1:${operations}/readyz, /metrics`,
    ]),
  ];
  const pairs: (readonly [string, string])[] = [
    ...engines,
    ["documentation", baseUrls.map((url) => `${url}/docs`).join(", ")],
    ["logs", `${options.logs}/*.log`],
    ["operator key", options.operatorKey],
    ...(keys === undefined
      ? []
      : ([
          ["API key", keys.apiKey],
          ["device key", keys.deviceKey],
        ] as const)),
  ];
  const [baseUrl = ""] = baseUrls;
  process.stdout.write(
    `Tessera is running as ${processes.length} processes.\n\n${columns(rows)}\n\n${columns(pairs)}\n${
      keys === undefined ? "" : trials(baseUrl, keys)
    }\nCtrl-C stops them.\n`,
  );
}
