import { columns } from "../columns.ts";
import { readOptions } from "../options.ts";
import { printable } from "../printable.ts";
import { runVerb, type Verbs } from "../run-verb.ts";
import { callPlatform, readAll } from "./call-platform.ts";
import {
  creationOptions,
  listOptions,
  ownerOptions,
  pathOf,
  readCreation,
  readOwner,
  refuseNames,
  requireId,
  splitList,
} from "./common-options.ts";
import { describeEvents, tellCreated, tellRevoked } from "./tell-created.ts";

interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly permissions: readonly string[];
  readonly all_events: boolean;
  readonly events: readonly string[];
  readonly active: boolean;
}

const verbs: Verbs = {
  create: { summary: "keys create: make an API key and print its token", load: async () => createKey },
  list: { summary: "keys list: show the API keys of an organizer", load: async () => listKeys },
  revoke: { summary: "keys revoke ID: switch an API key off", load: async () => revokeKey },
};

/** Does what an operator does with API keys. */
export async function operateKeys(args: string[]): Promise<void> {
  await runVerb("tessera keys", verbs, args);
}

const createOptions = {
  ...creationOptions,
  permissions: {
    type: "string",
    value: "NAME,…",
    help: "what it may do, by current or classic names; * for everything",
  },
  ...ownerOptions,
} as const;

async function createKey(args: string[]): Promise<void> {
  const usage =
    "tessera keys create --organizer SLUG --name NAME  [OPTIONS]\n\nMakes an API key. Its token alone goes to standard output, what it is to standard error.";
  const read = readOptions(usage, createOptions, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const { organizer, access } = readOwner(read.values);
  const body = { ...readCreation(read.values), permissions: splitList(read.values.permissions) };
  const created = await callPlatform<ApiKey & { token: string; settled: boolean }>(access, {
    method: "POST",
    path: pathOf(organizer, "apikeys/"),
    body,
  });
  tellCreated(
    created,
    `API key ${created.id} (${printable(created.name)}) of ${printable(organizer)}: ${describePermissions(created)}, ${describeEvents(created)}.`,
  );
}

async function listKeys(args: string[]): Promise<void> {
  const usage =
    "tessera keys list --organizer SLUG  [OPTIONS]\n\nShows the API keys of an organizer, revoked ones included. Tokens are not kept.";
  const read = readOptions(usage, listOptions, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const { organizer, access } = readOwner(read.values);
  const keys = await readAll<ApiKey>(access, pathOf(organizer, "apikeys/"));
  if (read.values.json) return void process.stdout.write(`${JSON.stringify(keys, null, 2)}\n`);
  const rows = keys.map((key) => [
    key.id,
    key.active ? "active" : "revoked",
    describeEvents(key),
    describePermissions(key),
    printable(key.name),
  ]);
  process.stdout.write(
    rows.length === 0
      ? "There are no API keys.\n"
      : `${columns([["ID", "STATE", "EVENTS", "PERMISSIONS", "NAME"], ...rows])}\n`,
  );
}

async function revokeKey(args: string[]): Promise<void> {
  const usage =
    "tessera keys revoke ID --organizer SLUG  [OPTIONS]\n\nSwitches an API key off; ID is what `tessera keys list` shows, or its first 8 characters. Revoking again changes nothing.";
  const read = readOptions(usage, ownerOptions, args);
  if (read === undefined) return;
  const id = requireId(read.names, "API key");
  const { organizer, access } = readOwner(read.values);
  const key = await callPlatform<ApiKey & { settled: boolean }>(access, {
    method: "POST",
    path: pathOf(organizer, `apikeys/${encodeURIComponent(id)}/revoke/`),
  });
  tellRevoked(`API key ${key.id} (${printable(key.name)})`, key);
}

function describePermissions({ permissions }: ApiKey): string {
  if (permissions.includes("*")) return "every permission";
  return permissions.length === 0 ? "no permission" : permissions.join(", ");
}
