import { demo, firstSecret } from "./demo/demo.ts";

/** Prints where the platform answers, its keys, and lines to paste. */
export function announce(options: {
  baseUrl: string;
  operationsPort: number;
  operatorKey: string;
  logFile: string | undefined;
  demoKeys?: { apiKey: string; deviceKey: string };
}): void {
  const { baseUrl, demoKeys } = options;
  const rows: [string, string][] = [
    ["REST API", `${baseUrl}/api/v1/`],
    ["documentation", `${baseUrl}/docs`],
    ["health, metrics", `http://localhost:${options.operationsPort}/readyz, /metrics`],
    ...(options.logFile === undefined ? [] : [["log", options.logFile] as [string, string]]),
    ["operator key", options.operatorKey],
  ];
  if (demoKeys !== undefined) rows.push(["API key", demoKeys.apiKey], ["device key", demoKeys.deviceKey]);
  const table = rows.map(([name, value]) => `  ${name.padEnd(16)}${value}`).join("\n");
  process.stdout.write(
    `Tessera is running.\n\n${table}\n${demoKeys === undefined ? "" : trials(baseUrl, demoKeys)}\nCtrl-C stops it.\n`,
  );
}

/** Lines to paste that find a ticket of the demo, scan it and see it counted. */
export function trials(baseUrl: string, keys: { apiKey: string; deviceKey: string }): string {
  const list = `${baseUrl}/api/v1/organizers/${demo.organizer}/events/${demo.event}/checkinlists/${demo.list}`;
  return `
Find a ticket, scan it (a second time it is refused), see it counted:

  curl -H 'Authorization: Token ${keys.apiKey}' '${list}/positions/?search=Lindqvist&page_size=1'
  curl -X POST -H 'Authorization: Device ${keys.deviceKey}' '${list}/positions/${firstSecret}/redeem/'
  curl -H 'Authorization: Token ${keys.apiKey}' '${list}/status/'
`;
}
