import { columns } from "../command/columns.ts";
import { type Access, accessOptions, findAccess } from "../command/operator-access.ts";
import { type Options, type OptionValues, readOptions, refuseNames, requireOption } from "../command/options.ts";
import { printable } from "../command/printable.ts";
import { runVerb } from "../command/run-verb.ts";
import { fault } from "../faults.ts";
import { callPlatform, readAll } from "./call-platform.ts";
import { apiKeys, type CredentialKind, devices, type Shown, splitList } from "./kinds.ts";
import { drawCode } from "./setup-link.ts";

const ownerOptions = {
  organizer: { type: "string", value: "SLUG", help: "the organizer it belongs to (required)" },
  ...accessOptions,
} as const;

const creationOptions = {
  name: { type: "string", value: "NAME", help: "a name to find it by (required)" },
  events: { type: "string", value: "SLUG,…", help: "the events for which it is valid" },
  "all-events": { type: "boolean", help: "valid for all events of the organizer, also future ones" },
} as const;

const listOptions = {
  json: { type: "boolean", help: "prints JSON instead of a table" },
  ...ownerOptions,
} as const;

export const operateKeys = (args: string[]): Promise<void> => operate(apiKeys, args);

export const operateDevices = (args: string[]): Promise<void> => operate(devices, args);

async function operate<C extends Shown, O extends Options>(kind: CredentialKind<C, O>, args: string[]): Promise<void> {
  const { verb, noun, article, revoking } = kind;
  const verbs = {
    create: {
      summary: `${verb} create: create ${article} ${noun} and print its token`,
      load: async () => (rest: string[]) => create(kind, rest),
    },
    list: {
      summary: `${verb} list: show the ${noun}s of an organizer`,
      load: async () => (rest: string[]) => list(kind, rest),
    },
    revoke: {
      summary: `${verb} revoke ID: ${revoking.summary}`,
      load: async () => (rest: string[]) => revoke(kind, rest),
    },
  };
  await runVerb(`tessera ${verb}`, verbs, args);
}

async function create<C extends Shown, O extends Options>(kind: CredentialKind<C, O>, args: string[]): Promise<void> {
  const usage = `tessera ${kind.verb} create --organizer SLUG --name NAME  [OPTIONS]

Creates ${kind.article} ${kind.noun}. Its token alone goes to standard output, its description to standard error.
${kind.creating}

Example: ${kind.example}`;
  const read = readOptions(usage, { ...creationOptions, ...kind.options, ...ownerOptions }, args);
  if (read === undefined) return;
  refuseNames(read.names);
  // The compiler cannot derive the values of a union of tables.
  const values = read.values as OptionValues<O> & OptionValues<typeof creationOptions & typeof ownerOptions>;
  const { organizer, access, path } = await readOwner(kind, values);
  const created = await callPlatform<C & { token: string; setup?: string; settled: boolean }>(access, {
    method: "POST",
    path,
    body: { ...readCreation(values), ...kind.toBody(values) },
  });
  const what = `${describe(kind, created)} of ${printable(organizer)}: ${kind.describe(created)}, ${describeEvents(created)}.`;
  process.stderr.write(`${what}\nIts token is shown only once; only its hash is stored.\n`);
  if (!created.all_events && created.events.length === 0)
    process.stderr.write(
      `It opens no event. For one that does, revoke it and create another with --all-events or --events.\n`,
    );
  if (created.setup !== undefined) {
    const { text, code } = kind.describeSetup(created.setup, values);
    process.stderr.write(`${text}\n\n${await drawCode(code)}\n`);
  }
  warnUnsettled(created);
  process.stdout.write(`${created.token}\n`);
}

async function list<C extends Shown, O extends Options>(kind: CredentialKind<C, O>, args: string[]): Promise<void> {
  const usage = `tessera ${kind.verb} list --organizer SLUG  [OPTIONS]

Shows the ${kind.noun}s of an organizer, revoked ones included. Tokens are not stored.`;
  const read = readOptions(usage, listOptions, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const { access, path } = await readOwner(kind, read.values);
  const all = await readAll<C>(access, path);
  if (read.values.json) return void process.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
  const rows = all.map((shown) => ({
    ID: kind.idOf(shown),
    STATE: kind.isActive(shown) ? "active" : "revoked",
    EVENTS: describeEvents(shown),
    ...kind.columnsOf(shown),
    NAME: printable(shown.name),
  }));
  const [first] = rows;
  process.stdout.write(
    first === undefined
      ? `There are no ${kind.noun}s.\n`
      : `${columns([Object.keys(first), ...rows.map((row) => Object.values(row))])}\n`,
  );
}

async function revoke<C extends Shown, O extends Options>(kind: CredentialKind<C, O>, args: string[]): Promise<void> {
  const usage = `tessera ${kind.verb} revoke ID --organizer SLUG  [OPTIONS]

${kind.revoking.usage} Revoking again changes nothing.`;
  const read = readOptions(usage, ownerOptions, args);
  if (read === undefined) return;
  const [id, ...others] = read.names;
  if (!id || others.length > 0) throw fault("no_id", `name one ${kind.noun} by its id`);
  const { access, path } = await readOwner(kind, read.values);
  const revoked = await callPlatform<C & { settled: boolean }>(access, {
    method: "POST",
    path: `${path}${encodeURIComponent(id)}/revoke/`,
  });
  process.stdout.write(`${describe(kind, revoked)} is revoked.\n`);
  warnUnsettled(revoked);
}

/** Reads the organizer, the path of its credentials, and how to call the platform. */
async function readOwner(
  { path }: { readonly path: string },
  values: OptionValues<typeof ownerOptions>,
): Promise<{ organizer: string; path: string; access: Access }> {
  const organizer = requireOption("organizer", values.organizer);
  const access = await findAccess(values);
  return { organizer, path: `organizers/${encodeURIComponent(organizer)}/${path}/`, access };
}

function readCreation(values: {
  readonly name: string | undefined;
  readonly events: string | undefined;
  readonly "all-events": boolean;
}): { name: string; all_events: boolean; events: string[] } {
  const events = splitList(values.events);
  if (values["all-events"] && events.length > 0)
    throw fault("events_and_all", "either --events or --all-events, not both");
  return { name: requireOption("name", values.name), all_events: values["all-events"] === true, events };
}

function describe<C extends Shown>(kind: Pick<CredentialKind<C, Options>, "noun" | "idOf">, shown: C): string {
  const noun = `${kind.noun.charAt(0).toUpperCase()}${kind.noun.slice(1)}`;
  return `${noun} ${kind.idOf(shown)} (${printable(shown.name)})`;
}

function describeEvents({ all_events: all, events }: Shown): string {
  if (all) return "all events";
  return events.length === 0 ? "no event" : events.map(printable).join(", ");
}

function warnUnsettled({ settled }: { readonly settled: boolean }): void {
  if (settled) return;
  process.stderr.write(
    "The gateways do not know it yet; they will as soon as facts reach them (`tessera doctor` finds the cause).\n",
  );
}
