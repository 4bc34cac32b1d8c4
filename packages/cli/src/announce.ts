import { columns } from "./columns.ts";
import { demo, firstSecret } from "./demo/demo.ts";
import type { DemoKeys } from "./fill.ts";

/** Prints the addresses of the platform, its keys, and lines to paste. */
export function announce(options: {
  baseUrl: string;
  operationsPort: number;
  /** Undefined: the operator set it, and it must not end in the log of a supervisor. */
  madeOperatorKey: string | undefined;
  logFile: string | undefined;
  demoKeys: DemoKeys | undefined;
}): void {
  const { baseUrl, demoKeys } = options;
  const rows = [
    ["REST API", `${baseUrl}/api/v1/`],
    ["documentation", `${baseUrl}/docs`],
    ["health, metrics", `http://localhost:${options.operationsPort}/readyz, /metrics`],
    ...(options.logFile === undefined ? [] : [["log", options.logFile]]),
    ["operator key", options.madeOperatorKey ?? "as set in TESSERA_OPERATOR_KEY"],
    ...keyRows(demoKeys),
  ];
  const examples = demoKeys === undefined ? "" : exampleLines(baseUrl, demoKeys);
  process.stdout.write(`Tessera is running.\n\n${columns(rows)}\n${examples}\nCtrl-C stops it.\n`);
}

/** Rows of a table: the keys of the demo, if it was loaded. */
export function keyRows(keys: DemoKeys | undefined): readonly string[][] {
  if (keys === undefined) return [];
  return [
    ["API key", keys.apiKey],
    ["device key", keys.deviceKey],
  ];
}

/** Lines to paste that find a ticket of the demo, scan it, count it and print it. */
export function exampleLines(baseUrl: string, keys: DemoKeys): string {
  const event = `${baseUrl}/api/v1/organizers/${demo.organizer}/events/${demo.event}`;
  const list = `${event}/checkinlists/${demo.list}`;
  return `
Find a ticket, scan it (a second time it is refused), see it counted:

  curl -H 'Authorization: Token ${keys.apiKey}' '${list}/positions/?search=Lindqvist&page_size=1'
  curl -X POST -H 'Authorization: Device ${keys.deviceKey}' '${list}/positions/${firstSecret}/redeem/'
  curl -H 'Authorization: Token ${keys.apiKey}' '${list}/status/'

Print it as PDF:

  curl -o ticket.pdf -H 'Authorization: Token ${keys.apiKey}' '${event}/orderpositions/${demo.position}/download/pdf/'
`;
}
