import { columns } from "@tessera/cli/command/columns";
import { exampleLines, keyRows } from "@tessera/cli/serve/announce";
import type { LoadedDemo } from "@tessera/cli/serve/fill";
import type { PlannedProcess } from "./plan.ts";

/** Prints addresses, keys, and lines to paste. */
export function printTable(options: {
  processes: readonly PlannedProcess[];
  engines: readonly (readonly [name: string, address: string])[];
  baseUrls: readonly string[];
  /** Undefined: it was set. */
  madeOperatorKey: string | undefined;
  logs: string;
  keys: LoadedDemo | undefined;
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
  const pairs = [
    ...engines,
    ["documentation", baseUrls.map((url) => `${url}/docs`).join(", ")],
    ["logs", `${options.logs}/*.log`],
    ["operator key", options.madeOperatorKey ?? "as set in TESSERA_OPERATOR_KEY"],
    ...keyRows(keys),
  ];
  const examples = keys === undefined ? "" : exampleLines(baseUrls[0] ?? "", keys);
  process.stdout.write(
    `Tessera is running as ${processes.length} processes.\n\n${columns(rows)}\n\n${columns(pairs)}\n${examples}\nCtrl-C stops them.\n`,
  );
}
