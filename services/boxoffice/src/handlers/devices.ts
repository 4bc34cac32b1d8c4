import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { currentContext } from "@tessera/kit/context";
import type { Fault } from "@tessera/kit/fault";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import { Turns } from "@tessera/kit/waiting/turns";
import type {
  GetDeviceRequest,
  GetDeviceResponse,
  InitializeDeviceRequest,
  InitializeDeviceResponse,
  RollDeviceRequest,
  RollDeviceResponse,
  Machine as SentMachine,
  ShownDevice,
  UpdateDeviceRequest,
  UpdateDeviceResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/devices";
import { topics } from "@tessera/protos/topics";
import { fault } from "../faults.ts";
import { device, type StoredDevice } from "../records/device.ts";
import type { BoxofficeEvents } from "../report-events.ts";
import { findBySetup, findDevice, type Machine, type StoredMachine, storeMachine } from "../store/device-setups.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import { toCredential } from "../wire/credential-messages.ts";

type Stored = StoredMachine<StoredDevice>;

interface DeviceDeps {
  readonly db: Db;
  readonly deviceTurns: Turns;
}

/** A change locks the records of its organizer, and occupies a connection. */
const mostChanges = 2;

/** Scanners wait a little longer. */
const longestWaitMs = 3000;

/** Limits concurrent changes of devices to one of each organizer: scanners of one may change as often as they like. */
export function shareDeviceChanges(): Turns {
  return new Turns({
    total: mostChanges,
    each: 1,
    waitMs: longestWaitMs,
    busy: () =>
      fault("locked", "other changes of the organizer's devices are under way; try again", { retryAfterMs: 5000 }),
  });
}

interface DeviceKey {
  readonly organizer: string;
  readonly id: string;
}

/** Sets up the device of a code. Afterwards the code is refused. */
export async function initializeDevice(
  { setupHash, tokenHash, machine: sent }: InitializeDeviceRequest,
  { events, ...deps }: DeviceDeps & { readonly events: BoxofficeEvents },
): Promise<InitializeDeviceResponse> {
  const key = await findBySetup(deps.db, Buffer.from(setupHash));
  if (key === undefined) throw refused("This initialization token is not known.");
  const shown = await change(deps, key, (found) => {
    if (found.machine !== null) throw refused("This initialization token has already been used.");
    if (found.isExpired) throw refused("This initialization token has expired.");
    if (found.data.revoked) throw refused("This initialization token has been revoked.");
    return { tokenHash: Buffer.from(tokenHash), machine: toMachine(sent, drawSerial()) };
  });
  events.deviceSetUp({ organizer: shown.organizer, id: shown.credential?.id ?? "" });
  return { device: shown };
}

/** Shows a device. */
export async function getDevice(
  key: GetDeviceRequest,
  { reads }: { readonly reads: Reads },
): Promise<GetDeviceResponse> {
  const found = await reads.inTurn(key.organizer, (db) => findDevice<StoredDevice>(db, key));
  if (found === undefined) throw missing();
  return { device: present(found) };
}

/** Notes what a device runs on by now. Scanners tell it at every start: if it is the same, nothing is written. */
export async function updateDevice(
  { organizer, id, machine: sent }: UpdateDeviceRequest,
  { reads, ...deps }: DeviceDeps & { readonly reads: Reads },
): Promise<UpdateDeviceResponse> {
  const found = await reads.inTurn(organizer, (db) => findDevice<StoredDevice>(db, { organizer, id }));
  if (found === undefined) throw missing();
  if (found.machine !== null && isDeepStrictEqual(found.machine, toMachine(sent, found.machine.serial)))
    return { device: present(found) };
  const shown = await change(deps, { organizer, id }, ({ machine, tokenHash }) => ({
    tokenHash,
    machine: toMachine(sent, machine?.serial ?? drawSerial()),
  }));
  return { device: shown };
}

/** Gives a device another token. Of requests that come at once with one token the first counts. A repeated request is welcome. */
export async function rollDevice(
  { organizer, id, tokenHash, formerHash }: RollDeviceRequest,
  deps: DeviceDeps,
): Promise<RollDeviceResponse> {
  const welcome = [formerHash, tokenHash].map((sent) => Buffer.from(sent));
  const shown = await change(deps, { organizer, id }, ({ tokenHash: held, machine }) => {
    if (!welcome.some((sent) => held?.equals(sent))) throw fault("token_replaced", "This token is not valid.");
    return { tokenHash: Buffer.from(tokenHash), machine: machine ?? toMachine(undefined, drawSerial()) };
  });
  return { device: shown };
}

type Next = (found: Stored) => { readonly tokenHash: Buffer | null; readonly machine: Machine };

/** Changes a device, and publishes it. Records of its organizer wait meanwhile. */
function change({ db, deviceTurns }: DeviceDeps, key: DeviceKey, next: Next): Promise<ShownDevice> {
  const { signal } = currentContext();
  return deviceTurns.run({ party: key.organizer, amount: 1, signal }, () =>
    db.transaction((tx) => changeIn(tx, key, next)),
  );
}

async function changeIn(tx: Tx, key: DeviceKey, next: Next): Promise<ShownDevice> {
  await takeLocks(tx, locksOf([{ organizer: key.organizer, event: "" }]));
  const before = await findDevice<StoredDevice>(tx, key);
  if (before === undefined) throw missing();
  await storeMachine(tx, { ...key, ...next(before) });
  const after = await findDevice<StoredDevice>(tx, key);
  if (after === undefined) throw new Error("the changed device is missing");
  const gates = new Map(after.data.gate === null ? [] : [[after.data.gate, after.gateName ?? ""]]);
  await tx.publish(topics.credentialChanged, [device.factOf({ ...after, gates })]);
  return present(after);
}

function present(found: Stored): ShownDevice {
  const { organizer, data, gateName, machine } = found;
  return {
    organizer,
    credential: toCredential(found, device.toMessage(data)),
    serial: machine?.serial ?? "",
    gateName: gateName ?? undefined,
    machine:
      machine === null
        ? undefined
        : {
            hardwareBrand: machine.hardware_brand,
            hardwareModel: machine.hardware_model,
            osName: machine.os_name,
            osVersion: machine.os_version,
            softwareBrand: machine.software_brand,
            softwareVersion: machine.software_version,
          },
  };
}

function toMachine(sent: SentMachine | undefined, serial: string): Machine {
  return {
    serial,
    hardware_brand: sent?.hardwareBrand ?? "",
    hardware_model: sent?.hardwareModel ?? "",
    os_name: sent?.osName ?? "",
    os_version: sent?.osVersion ?? "",
    software_brand: sent?.softwareBrand ?? "",
    software_version: sent?.softwareVersion ?? "",
  };
}

/** Sixteen characters that can be read aloud. */
function drawSerial(): string {
  return randomBytes(8).toString("hex").toUpperCase();
}

function refused(message: string): Fault {
  return fault("setup_refused", message, { fields: { token: [message] } });
}

function missing(): Fault {
  return fault("device_not_found", "The organizer has no such device.");
}
