import type { Live, LiveDevice } from "./live.ts";

/** What is wrong with a device. */
export type Trouble =
  | { readonly kind: "queued"; readonly count: number }
  | { readonly kind: "low_battery"; readonly percent: number }
  | { readonly kind: "not_heard"; readonly ms: number }
  | { readonly kind: "behind"; readonly ms: number };

export interface DeviceRow extends LiveDevice {
  readonly troubles: readonly Trouble[];
}

/** One line of the table of gates. */
export interface GateRow {
  readonly gate: number | null;
  readonly name: string;
  readonly state: "busy" | "quiet" | "silent";
  readonly entries: number;
  readonly exits: number;
  readonly refused: number;
  /** Of all its scans of the last minute, between 0 and 1. */
  readonly refusedShare: number;
  /** The reason of most refusals. */
  readonly reason: string | undefined;
  /** Milliseconds since its last scan; undefined: none within 15 minutes. */
  readonly silentMs: number | undefined;
  readonly devices: readonly DeviceRow[];
  /** How many things are wrong with its devices. */
  readonly troubles: number;
}

export type Column = "name" | "entries" | "exits" | "refused" | "silentMs" | "troubles";

/** A gate that scanned within the last minutes and is silent for so long needs a look. */
const silentMs = 60_000;
const lowBattery = 15;
const longestUnheardMs = 120_000;
const longestBehindMs = 120_000;

/** Makes the lines of the table. The time is that of the state: the clock of this device may be wrong. */
export function gateRows(live: Live, nameOf: (gate: number | null) => string): GateRow[] {
  const now = Date.parse(live.at);
  return live.gates.map(({ gate, entries, exits, refused, reasons, last_scan }) => {
    const devices = live.devices.filter((device) => device.gate === gate).map((device) => withTroubles(device, now));
    const all = entries + exits + refused;
    const silent = last_scan === null ? undefined : now - Date.parse(last_scan);
    return {
      ...{ gate, name: nameOf(gate), entries, exits, refused, devices },
      state: all > 0 ? "busy" : silent !== undefined && silent > silentMs ? "silent" : "quiet",
      refusedShare: all === 0 ? 0 : refused / all,
      reason: Object.entries(reasons).toSorted(([, one], [, other]) => other - one)[0]?.[0],
      silentMs: silent,
      troubles: devices.reduce((sum, { troubles }) => sum + troubles.length, 0),
    };
  });
}

function withTroubles(device: LiveDevice, now: number): DeviceRow {
  const { queue, battery, last_contact, last_sync } = device;
  const unheard = last_contact === null ? 0 : now - Date.parse(last_contact);
  const behind = last_sync === null ? 0 : now - Date.parse(last_sync);
  const troubles: Trouble[] = [];
  if (queue !== null && queue > 0) troubles.push({ kind: "queued", count: queue });
  if (unheard > longestUnheardMs) troubles.push({ kind: "not_heard", ms: unheard });
  else if (behind > longestBehindMs) troubles.push({ kind: "behind", ms: behind });
  if (battery !== null && battery <= lowBattery) troubles.push({ kind: "low_battery", percent: battery });
  return { ...device, troubles };
}

/** Sorts lines by a column; equal ones by name. What is worth a look comes first where a column descends. */
export function sortRows(
  rows: readonly GateRow[],
  { by, descends }: { readonly by: Column; readonly descends: boolean },
): GateRow[] {
  const sign = descends ? -1 : 1;
  return rows.toSorted((one, other) => sign * compare(one, other, by) || compareNames(one, other));
}

function compare(one: GateRow, other: GateRow, by: Column): number {
  if (by === "name") return compareNames(one, other);
  const [first, second] = [one[by] ?? Number.MAX_SAFE_INTEGER, other[by] ?? Number.MAX_SAFE_INTEGER];
  return first - second;
}

function compareNames(one: GateRow, other: GateRow): number {
  return one.name.localeCompare(other.name, undefined, { numeric: true });
}
