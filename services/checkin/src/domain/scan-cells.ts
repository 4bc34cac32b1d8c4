import { StoredCells } from "./stored-cells.ts";

/** Scans of one device at one gate with one result, which were stored in one second and made in one second. */
export interface ScanCell {
  /** Seconds since 1970. */
  readonly storedIn: number;
  readonly madeIn: number;
  readonly gate: number | null;
  readonly device: number | null;
  readonly type: "entry" | "exit";
  /** Null: they succeeded. */
  readonly reason: string | null;
  readonly scans: number;
  /** The newest, in microseconds since 1970. */
  readonly lastAt: number;
}

export interface RecentRefusal {
  readonly id: number;
  readonly at: number;
  readonly list: number;
  readonly gate: number | null;
  readonly device: number | null;
  readonly reason: string;
}

export interface MinuteOfDevice {
  readonly gate: number | null;
  readonly device: number | null;
  entries: number;
  exits: number;
  readonly refused: Map<string, number>;
}

export interface LastScan {
  readonly gate: number | null;
  readonly at: number;
}

/** Shown of devices and refusals, in seconds. */
const longestMemory = 900;

/** What the last minute is counted from: a scan is stored some seconds after it is made. */
const keptCells = 65;

const mostRefusals = 20;

/** The scans of one event within the last minutes. */
export class RecentScans {
  readonly #cells = new StoredCells<ScanCell>({ readsBack: longestMemory, keeps: keptCells, width: 1 });
  readonly #lastScans = new Map<number, LastScan>();
  #refusals: readonly RecentRefusal[] = [];

  /** From which second on what was stored has to be read. */
  readFrom(now: number): number {
    return this.#cells.readFrom(now);
  }

  /** Takes what was stored since a second, which replaces what was known of that time. */
  take(
    now: number,
    {
      from,
      cells,
      refusals,
    }: { readonly from: number; readonly cells: readonly ScanCell[]; readonly refusals: readonly RecentRefusal[] },
  ): void {
    this.#cells.take(now, { from, cells });
    for (const { device, gate, lastAt } of cells) {
      if (device === null) continue;
      const last = this.#lastScans.get(device);
      if (last === undefined || last.at <= lastAt) this.#lastScans.set(device, { gate, at: lastAt });
    }
    const oldest = (now - longestMemory) * 1_000_000;
    for (const [device, { at }] of this.#lastScans) if (at < oldest) this.#lastScans.delete(device);
    const all = new Map([...this.#refusals, ...refusals].map((refusal) => [refusal.id, refusal]));
    this.#refusals = [...all.values()]
      .filter(({ at }) => at >= oldest)
      .toSorted((one, other) => other.at - one.at || other.id - one.id)
      .slice(0, mostRefusals);
  }

  giveUpPast(now: number): void {
    this.#cells.giveUpPast(now);
  }

  /** The scans that were made within the last 60 seconds. */
  lastMinute(now: number): MinuteOfDevice[] {
    const sums = new Map<string, MinuteOfDevice>();
    for (const { madeIn, gate, device, type, reason, scans } of this.#cells.cells) {
      if (madeIn <= now - 60 || madeIn > now) continue;
      const key = `${gate}/${device}`;
      const sum = sums.get(key) ?? { gate, device, entries: 0, exits: 0, refused: new Map<string, number>() };
      sums.set(key, sum);
      if (reason !== null) sum.refused.set(reason, (sum.refused.get(reason) ?? 0) + scans);
      else if (type === "entry") sum.entries += scans;
      else sum.exits += scans;
    }
    return [...sums.values()];
  }

  /** The newest first. */
  get refusals(): readonly RecentRefusal[] {
    return this.#refusals;
  }

  get lastScans(): ReadonlyMap<number, LastScan> {
    return this.#lastScans;
  }
}
