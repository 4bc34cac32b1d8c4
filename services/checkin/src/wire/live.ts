import type { LiveCount, LiveList, LiveMinute, ReadLiveResponse } from "@tessera/protos/gen/ticketing/checkin/v1/live";
import type { RecentInside } from "../domain/recent-inside.ts";
import type { MinuteOfDevice, RecentScans } from "../domain/scan-cells.ts";
import type { CountedList } from "../store/counts.ts";
import type { GateMinute } from "../store/recent-scans.ts";
import type { StoredAlarm } from "../store/stored-alarms.ts";
import { toAlarm } from "./alarm-messages.ts";

export function toLive({
  now,
  lists,
  scans,
  inside,
  doubles,
  alarms,
}: {
  /** In seconds since 1970. */
  readonly now: number;
  readonly lists: readonly CountedList[];
  readonly scans: RecentScans;
  readonly inside: RecentInside;
  /** Undefined: there are too many to count. */
  readonly doubles: { readonly count: number; readonly explained: number } | undefined;
  readonly alarms: readonly StoredAlarm[];
}): ReadLiveResponse {
  return {
    at: now * 1_000_000,
    lists: lists.map((list) => toList(list, { now, inside })),
    lastMinute: scans.lastMinute(now).map(toCount),
    refusals: scans.refusals.map((refusal) => ({
      ...refusal,
      gate: refusal.gate ?? undefined,
      device: refusal.device ?? undefined,
    })),
    doubles: doubles && { count: doubles.count, explained: doubles.explained },
    devices: Array.from(scans.lastScans, ([device, { gate, at }]) => ({
      ...{ device, gate: gate ?? undefined, lastScanAt: at },
    })),
    alarms: alarms.map(toAlarm),
  };
}

function toList(list: CountedList, { now, inside }: { readonly now: number; readonly inside: RecentInside }): LiveList {
  const { id, name, subevent, positions, entered, softLimit, hardLimit, persons } = list;
  const shown = { id, name, subevent: subevent ?? undefined, positions, entered, inside: list.inside };
  const limit = hardLimit ?? softLimit;
  if (persons === null || limit === null) return { ...shown, limit: undefined };
  const reached = inside.whenReached(id, { limit, now: { at: now, persons } });
  return {
    ...shown,
    limit: {
      ...{ persons, soft: softLimit ?? undefined, hard: hardLimit ?? undefined },
      reachedAt: reached === undefined ? undefined : reached * 1_000_000,
    },
  };
}

function toCount({ gate, device, entries, exits, refused }: MinuteOfDevice): LiveCount {
  return {
    ...{ gate: gate ?? undefined, device: device ?? undefined, entries, exits },
    refused: Array.from(refused, ([reason, scans]) => ({ reason, scans })),
  };
}

export function toMinute({ gate, ...minute }: GateMinute): LiveMinute {
  return { ...minute, gate: gate ?? undefined };
}
