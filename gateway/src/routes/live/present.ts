import type {
  LiveCount,
  LiveLimit,
  ReadLastHourResponse,
  ReadLiveResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/live";
import { formatInstant } from "@tessera/values";
import type { HeardDevice } from "../../store/device-contacts.ts";
import { presentAlarm } from "../alarms/present.ts";

interface Counts {
  entries: number;
  exits: number;
  refused: number;
  reasons: Record<string, number>;
}

/** Joins what checkin has counted with what was heard of the devices. */
export function presentLive(live: ReadLiveResponse, heard: readonly HeardDevice[]) {
  const { at, lists, lastMinute, refusals, doubles, devices, alarms } = live;
  const heardOf = new Map(heard.map((device) => [device.device, device]));
  const lastScans = new Map(devices.map((device) => [device.device, device]));
  const ids = new Set([...heardOf.keys(), ...lastScans.keys(), ...lastMinute.flatMap(({ device }) => device ?? [])]);
  const shownDevices = Array.from(ids, (device) => {
    const contact = heardOf.get(device);
    const last = lastScans.get(device);
    return {
      device_id: device,
      name: contact?.name ?? null,
      gate: last === undefined ? (contact?.gate ?? null) : (last.gate ?? null),
      ...sum(lastMinute.filter((count) => count.device === device)),
      last_scan: orNull(last?.lastScanAt),
      last_contact: orNull(contact?.seenAt),
      queue: contact?.queue ?? null,
      battery: contact?.battery ?? null,
      last_sync: orNull(contact?.syncedAt),
    };
  });
  const gates = new Set([...shownDevices.map(({ gate }) => gate), ...lastMinute.map(({ gate }) => gate ?? null)]);
  return {
    at: formatInstant(at),
    ...sum(lastMinute),
    lists: lists.map(({ id, name, subevent, positions, entered, inside, limit }) => ({
      ...{ id, name, subevent: subevent ?? null },
      ...{ position_count: positions, checkin_count: entered, inside_count: inside },
      limit: limit === undefined ? null : presentLimit(limit),
    })),
    gates: Array.from(gates, (gate) => ({
      gate,
      ...sum(lastMinute.filter((count) => (count.gate ?? null) === gate)),
      last_scan: orNull(newest(devices.filter((device) => (device.gate ?? null) === gate))),
    })).toSorted((one, other) => (one.gate ?? Infinity) - (other.gate ?? Infinity)),
    devices: shownDevices.toSorted((one, other) => one.device_id - other.device_id),
    refusals: refusals.map(({ id, at: datetime, list, gate, device, reason }) => ({
      ...{ id, datetime: formatInstant(datetime), list, gate: gate ?? null, device_id: device ?? null, reason },
    })),
    doubles: doubles ?? null,
    alarms: alarms.map(presentAlarm),
  };
}

export function presentLastHour({ at: counted, minutes }: ReadLastHourResponse) {
  return {
    at: formatInstant(counted),
    minutes: minutes.map(({ at, gate, entries, exits, refused }) => ({
      ...{ at: formatInstant(at), gate: gate ?? null, entries, exits, refused },
    })),
  };
}

function presentLimit({ persons, soft, hard, reachedAt }: LiveLimit) {
  return { persons, soft_limit: soft ?? null, hard_limit: hard ?? null, reached: orNull(reachedAt) };
}

function sum(counts: readonly LiveCount[]): Counts {
  const all: Counts = { entries: 0, exits: 0, refused: 0, reasons: {} };
  for (const { entries, exits, refused } of counts) {
    all.entries += entries;
    all.exits += exits;
    for (const { reason, scans } of refused) {
      all.refused += scans;
      all.reasons[reason] = (all.reasons[reason] ?? 0) + scans;
    }
  }
  return all;
}

function newest(devices: readonly { readonly lastScanAt: number }[]): number | undefined {
  return devices.length === 0 ? undefined : Math.max(...devices.map(({ lastScanAt }) => lastScanAt));
}

function orNull(instant: number | undefined | null): string | null {
  return instant === undefined || instant === null ? null : formatInstant(instant);
}
