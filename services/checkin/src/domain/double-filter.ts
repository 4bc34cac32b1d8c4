import type { Double, StoredScan } from "./find-doubles.ts";
import type { Period } from "./past-scan.ts";

/** What somebody found out about a double. */
export interface DoubleNote {
  /** Null: it was erased. */
  readonly text: string | null;
  /** The name of the credential, as it was then. */
  readonly by: string;
  readonly at: number;
}

export interface NotedDouble extends Double {
  readonly list: number;
  readonly position: number;
  readonly orderCode: string;
  readonly positionid: number;
  readonly note: DoubleNote | null;
}

/** Which doubles of an event are wanted. Undefined conditions do not count. */
export interface DoubleFilter {
  readonly list?: number | undefined;
  readonly position?: number | undefined;
  /** The internal id of the device of one of its scans; devices known here have one number only. */
  readonly device?: number | undefined;
  /** The gate of one of its scans. */
  readonly gate?: number | undefined;
  readonly reason?: string | undefined;
  readonly explained?: boolean | undefined;
  /** The period in which the last of its scans was stored here. */
  readonly created: Period;
  /** The period in which the later scan was made. */
  readonly scanned: Period;
}

export function isWanted(double: NotedDouble, filter: DoubleFilter): boolean {
  const { list, position, device, gate, reason, explained, created, scanned } = filter;
  return (
    (list === undefined || double.list === list) &&
    (position === undefined || double.position === position) &&
    (device === undefined || scansOf(double).some((scan) => idOfDevice(scan) === device)) &&
    (gate === undefined || scansOf(double).some((scan) => scan.gate === gate)) &&
    (reason === undefined || double.reasons.includes(reason)) &&
    (explained === undefined || (double.note !== null) === explained) &&
    isWithin(completeAt(double), created) &&
    isWithin(double.scan.at, scanned)
  );
}

/** When the last of its scans was stored here: the ledger shows it since then. */
export function completeAt(double: Double): number {
  return Math.max(...scansOf(double).map(({ createdAt }) => createdAt));
}

function scansOf({ scan, earlier }: Double): readonly StoredScan[] {
  return earlier === null ? [scan] : [scan, earlier];
}

function idOfDevice({ device, deviceId }: StoredScan): number | null {
  return device ?? deviceId;
}

function isWithin(time: number, { since, before }: Period): boolean {
  return (since === undefined || time >= since) && (before === undefined || time < before);
}

const sortKeys: Readonly<Record<string, (double: NotedDouble) => number>> = {
  created: completeAt,
  datetime: ({ scan }) => scan.at,
  id: ({ scan }) => scan.id,
};

/** Sorts doubles as asked, `-` for descending, by default by the time when they became known; equal ones by id. */
export function sortDoubles(doubles: readonly NotedDouble[], ordering: readonly string[]): NotedDouble[] {
  const terms = [...(ordering.length === 0 ? ["created"] : ordering), "id"].flatMap((name) => {
    const key = sortKeys[name.replace("-", "")];
    return key === undefined ? [] : [{ key, sign: name.startsWith("-") ? -1 : 1 }];
  });
  return doubles.toSorted((one, other) => {
    for (const { key, sign } of terms) {
      const order = sign * (key(one) - key(other));
      if (order !== 0) return order;
    }
    return 0;
  });
}

interface Count {
  /** Null: scans without a device, or without a gate. */
  readonly id: number | null;
  readonly count: number;
  readonly explained: number;
}

/** How many doubles each device and each gate has a scan of, most first. */
export class DoubleCounts {
  count = 0;
  explained = 0;
  readonly #devices = new Map<number | null, Count>();
  readonly #gates = new Map<number | null, Count>();

  add(double: NotedDouble): void {
    const explained = double.note === null ? 0 : 1;
    this.count += 1;
    this.explained += explained;
    const scans = scansOf(double);
    for (const [counts, ids] of [
      [this.#devices, scans.map(idOfDevice)],
      [this.#gates, scans.map(({ gate }) => gate)],
    ] as const) {
      for (const id of new Set(ids)) {
        const known = counts.get(id) ?? { id, count: 0, explained: 0 };
        counts.set(id, { id, count: known.count + 1, explained: known.explained + explained });
      }
    }
  }

  get devices(): readonly Count[] {
    return mostFirst(this.#devices);
  }

  get gates(): readonly Count[] {
    return mostFirst(this.#gates);
  }
}

function mostFirst(counts: ReadonlyMap<number | null, Count>): readonly Count[] {
  return [...counts.values()].sort((one, other) => other.count - one.count || (one.id ?? 0) - (other.id ?? 0));
}
