import { columns } from "../command/columns.ts";
import { drawCode } from "../credentials/setup-link.ts";
import { demo } from "../demo/demo.ts";
import type { DemoKeys, LoadedDemo } from "./fill.ts";

/** Prints the addresses of the platform, its keys, and lines to paste. */
export async function announce(options: {
  baseUrl: string;
  operationsPort: number;
  /** Undefined: the operator configured it, and it must not end in the log of a supervisor. */
  madeOperatorKey: string | undefined;
  logFile: string | undefined;
  /** The data folder. */
  data: string;
  /** Whether commands use this folder where none is named. */
  isUsualData: boolean;
  demoKeys: LoadedDemo | undefined;
  /** With which a browser becomes a scanner of the demo. */
  pageLink: string | undefined;
  /** With which a browser signs in to the board of the demo. */
  boardLink: string | undefined;
}): Promise<void> {
  const { baseUrl, demoKeys } = options;
  const rows = [
    ...addressRows(options),
    ["health, metrics", operationsUrls(options.operationsPort)],
    ...(options.logFile === undefined ? [] : [["log", options.logFile]]),
    ["operator key", options.madeOperatorKey ?? "as set in TESSERA_OPERATOR_KEY"],
    ...keyRows(demoKeys),
  ];
  const examples = demoKeys === undefined ? nextSteps(options) : exampleLines(baseUrl, demoKeys);
  const page = options.pageLink === undefined ? "" : await scannerLines(options.pageLink);
  const board = options.boardLink === undefined ? "" : boardLines(options.boardLink);
  process.stdout.write(`Tessera is running.\n\n${columns(rows)}\n${examples}${page}${board}\nCtrl-C stops it.\n`);
}

/** The link of the scanner page, and on a terminal its QR code. */
async function scannerLines(link: string): Promise<string> {
  const drawn = process.stdout.isTTY ? `\n${await drawCode(link)}\n` : "";
  return `
Scan with a browser: open this link, which works once, and choose the list.

  ${link}
${drawn}`;
}

function boardLines(link: string): string {
  return `
Watch what happens at the gates: open this link in a browser, which works once.

  ${link}
`;
}

/** Next steps for an empty platform. With a configured key the settings may name an address that leads here only later. */
export function nextSteps({
  data: folder,
  isUsualData,
  madeOperatorKey,
}: Pick<Parameters<typeof announce>[0], "data" | "isUsualData" | "madeOperatorKey">): string {
  const isConfigured = madeOperatorKey === undefined;
  const data = isUsualData && !isConfigured ? "" : ` --data ${inShell(folder)}`;
  const shell = isConfigured ? ", in a shell that has TESSERA_OPERATOR_KEY (from a file: set -a; . FILE; set +a)" : "";
  return `
Next${shell}:

  npm run tessera -- import FILE${data}
  npm run tessera -- keys create --organizer SLUG --name NAME --permissions NAME,… --all-events${data}
  npm run tessera -- status${data}
`;
}

function inShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Rows of a table: where the platform is reached. */
export function addressRows({ baseUrl }: { readonly baseUrl: string }): readonly string[][] {
  return [
    ["REST API", `${baseUrl}/api/v1/`],
    ["documentation", `${baseUrl}/docs`],
  ];
}

/** Where a process of this machine reports its health. */
export function operationsUrls(operationsPort: number): string {
  return `http://localhost:${operationsPort}/readyz, /metrics`;
}

/** Rows of a table: the keys of the demo, if it was loaded. */
export function keyRows(keys: DemoKeys | undefined): readonly string[][] {
  if (keys === undefined) return [];
  return [
    ["API key", keys.apiKey],
    ["device key", keys.deviceKey],
  ];
}

/** Lines to paste that find a demo ticket, scan it, count it and print it. */
export function exampleLines(baseUrl: string, keys: LoadedDemo): string {
  return `
Find a ticket, scan one (a second time it is refused), see it counted; paste the variables first:

  EVENT='${baseUrl}/api/v1/organizers/${demo.organizer}/events/${demo.event}'
  LIST="$EVENT/checkinlists/${demo.list}"
  KEY='Authorization: Token ${keys.apiKey}'
  DEVICE='Authorization: Device ${keys.deviceKey}'

  curl -H "$KEY" "$LIST/positions/?search=Lindqvist&page_size=1"
  curl -X POST -H "$DEVICE" "$LIST/positions/${keys.ticket}/redeem/"
  curl -H "$KEY" "$LIST/status/"

Print the first one as PDF:

  curl --fail --retry 5 -o ticket.pdf -H "$KEY" "$EVENT/orderpositions/${demo.position}/download/pdf/"
`;
}
