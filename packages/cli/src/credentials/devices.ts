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
} from "./common-options.ts";
import { describeEvents, tellCreated, tellRevoked } from "./tell-created.ts";

interface Device {
  readonly device_id: number;
  readonly name: string;
  readonly gate: number | null;
  readonly security_profile: string;
  readonly software_brand: string;
  readonly all_events: boolean;
  readonly events: readonly string[];
  readonly revoked: boolean;
}

const verbs: Verbs = {
  create: { summary: "devices create: make a device and print its token", load: async () => createDevice },
  list: { summary: "devices list: show the devices of an organizer", load: async () => listDevices },
  revoke: { summary: "devices revoke ID: take the access of a device away", load: async () => revokeDevice },
};

/** Does what an operator does with devices. */
export async function operateDevices(args: string[]): Promise<void> {
  await runVerb("tessera devices", verbs, args);
}

const createOptions = {
  ...creationOptions,
  gate: { type: "string", value: "ID", help: "the gate it stands at" },
  profile: {
    type: "string",
    default: "full",
    value: "NAME",
    help: "full, pretixscan, pretixscan_online_kiosk or pretixscan_online_noorders (default full)",
  },
  "software-brand": { type: "string", value: "TEXT", help: "the software that it runs" },
  ...ownerOptions,
} as const;

async function createDevice(args: string[]): Promise<void> {
  const usage =
    "tessera devices create --organizer SLUG --name NAME  [OPTIONS]\n\nMakes a scanning device. Its token alone goes to standard output, what it is to standard error.";
  const read = readOptions(usage, createOptions, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const { organizer, access } = readOwner(read.values);
  const { gate, profile, "software-brand": brand } = read.values;
  const created = await callPlatform<Device & { token: string; settled: boolean }>(access, {
    method: "POST",
    path: pathOf(organizer, "devices/"),
    body: { ...readCreation(read.values), gate: gate ?? null, security_profile: profile, software_brand: brand ?? "" },
  });
  tellCreated(
    created,
    `Device ${created.device_id} (${printable(created.name)}) of ${printable(organizer)}: profile ${created.security_profile}, ${describeGate(created)}, ${describeEvents(created)}.`,
  );
}

async function listDevices(args: string[]): Promise<void> {
  const usage =
    "tessera devices list --organizer SLUG  [OPTIONS]\n\nShows the devices of an organizer, revoked ones included. Tokens are not kept.";
  const read = readOptions(usage, listOptions, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const { organizer, access } = readOwner(read.values);
  const devices = await readAll<Device>(access, pathOf(organizer, "devices/"));
  if (read.values.json) return void process.stdout.write(`${JSON.stringify(devices, null, 2)}\n`);
  const rows = devices.map((device) => [
    String(device.device_id),
    device.revoked ? "revoked" : "active",
    describeEvents(device),
    device.security_profile,
    describeGate(device),
    printable(device.name),
  ]);
  process.stdout.write(
    rows.length === 0
      ? "There are no devices.\n"
      : `${columns([["ID", "STATE", "EVENTS", "PROFILE", "GATE", "NAME"], ...rows])}\n`,
  );
}

async function revokeDevice(args: string[]): Promise<void> {
  const usage =
    "tessera devices revoke ID --organizer SLUG  [OPTIONS]\n\nTakes the access of a device away; ID is what `tessera devices list` shows. Scanning apps that are told so delete\nwhat they hold of the event. Revoking again changes nothing.";
  const read = readOptions(usage, ownerOptions, args);
  if (read === undefined) return;
  const id = requireId(read.names, "device");
  const { organizer, access } = readOwner(read.values);
  const device = await callPlatform<Device & { settled: boolean }>(access, {
    method: "POST",
    path: pathOf(organizer, `devices/${encodeURIComponent(id)}/revoke/`),
  });
  tellRevoked(`Device ${device.device_id} (${printable(device.name)})`, device);
}

function describeGate({ gate }: Device): string {
  return gate === null ? "no gate" : `gate ${gate}`;
}
