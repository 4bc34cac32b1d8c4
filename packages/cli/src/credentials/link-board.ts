import { durationMs } from "@tessera/kit/config/config";
import { accessOptions, findAccess } from "../command/operator-access.ts";
import { readOptions, refuseNames, requireOption } from "../command/options.ts";
import { printable } from "../command/printable.ts";
import { runVerb } from "../command/run-verb.ts";
import { fault } from "../faults.ts";
import { callPlatform } from "./call-platform.ts";
import { splitList } from "./kinds.ts";
import { drawCode } from "./setup-link.ts";

const options = {
  organizer: { type: "string", value: "SLUG", help: "the organizer whose board it opens (required)" },
  name: {
    type: "string",
    default: "Board",
    value: "NAME",
    help: "what the person or screen is called (default Board)",
  },
  events: { type: "string", value: "SLUG,…", help: "the events that it shows; all of the organizer without it" },
  permissions: { type: "string", value: "NAME,…", help: "what it may do (default event.orders:read)" },
  for: { type: "string", default: "12h", value: "TIME", help: "how long the browser stays signed in (default 12h)" },
  ...accessOptions,
} as const;

/** Makes links with which browsers sign in. */
export async function operateLinks(args: string[]): Promise<void> {
  const board = {
    summary: "link board: create a link with which a browser signs in to the board, and draw it",
    load: async () => linkBoard,
  };
  await runVerb("tessera link", { board }, args);
}

async function linkBoard(args: string[]): Promise<void> {
  const usage = `tessera link board --organizer SLUG  [OPTIONS]

Creates a link with which a browser signs in to the board: once, within an hour. The link alone goes to standard output,
its QR code to standard error.

Example: tessera link board --organizer demo --name "Screen at the entrance" --for 3d`;
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const { values } = read;
  const organizer = requireOption("organizer", values.organizer);
  const events = splitList(values.events);
  const permissions = splitList(values.permissions);
  const seconds = readSeconds(values.for);
  const { link } = await callPlatform<{ readonly link: string }>(await findAccess(values), {
    method: "POST",
    path: `organizers/${encodeURIComponent(organizer)}/signinlinks/`,
    body: {
      name: values.name,
      ...{ all_events: events.length === 0, events },
      ...(permissions.length === 0 ? {} : { permissions }),
      session_for: seconds,
    },
  });
  const shown = `Open this link in the browser of ${printable(values.name)}, or let it scan the code: once, within an hour.`;
  process.stderr.write(`${shown}\n\n${await drawCode(link)}\n`);
  process.stdout.write(`${link}\n`);
}

const lasting = durationMs("--for", undefined, "How long the browser stays signed in.");

/** In whole seconds; the platform says how many it takes. */
function readSeconds(text: string): number {
  const ms = lasting.read(text)?.value;
  if (ms === undefined) throw fault("bad_options", `--for must be ${lasting.takes}`);
  return Math.round(ms / 1000);
}
