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

/** What one device did at one gate within a minute. */
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

/** A transaction stores its scans under the time of its beginning: later seconds may still get scans. */
const unsettled = 5;

const mostRefusals = 20;

/** The scans of one event within the last minutes, kept up to date by reading what was stored since the last time. */
export class RecentScans {
  /** By the second in which they were stored. */
  #cells = new Map<number, ScanCell[]>();
  #lastScans = new Map<number, LastScan>();
  #refusals: readonly RecentRefusal[] = [];
  #readUntil = 0;

  /** How many seconds of the past have to be read at this time. */
  secondsToRead(now: number): number {
    return Math.min(longestMemory, Math.max(0, now - this.#readUntil) + unsettled);
  }

  /** Takes what was stored in these last seconds, which replaces what was known of them. */
  take(
    now: number,
    {
      seconds,
      cells,
      refusals,
    }: { readonly seconds: number; readonly cells: readonly ScanCell[]; readonly refusals: readonly RecentRefusal[] },
  ): void {
    for (const second of this.#cells.keys()) {
      if (second >= now - seconds || second < now - 60 - unsettled) this.#cells.delete(second);
    }
    for (const cell of cells) {
      const known = this.#cells.get(cell.storedIn);
      if (known === undefined) this.#cells.set(cell.storedIn, [cell]);
      else known.push(cell);
      if (cell.device === null) continue;
      const last = this.#lastScans.get(cell.device);
      if (last === undefined || last.at <= cell.lastAt)
        this.#lastScans.set(cell.device, { gate: cell.gate, at: cell.lastAt });
    }
    const oldest = (now - longestMemory) * 1_000_000;
    for (const [device, { at }] of this.#lastScans) if (at < oldest) this.#lastScans.delete(device);
    const all = new Map([...this.#refusals, ...refusals].map((refusal) => [refusal.id, refusal]));
    this.#refusals = [...all.values()]
      .filter(({ at }) => at >= oldest)
      .toSorted((one, other) => other.at - one.at || other.id - one.id)
      .slice(0, mostRefusals);
    this.#readUntil = now;
  }

  /** Gives up what was not read until the last minute. */
  skipPast(now: number): void {
    this.#readUntil = Math.max(this.#readUntil, now - 60);
  }

  /** The scans that were made within the last 60 seconds. */
  lastMinute(now: number): MinuteOfDevice[] {
    const sums = new Map<string, MinuteOfDevice>();
    for (const cells of this.#cells.values()) {
      for (const { madeIn, gate, device, type, reason, scans } of cells) {
        if (madeIn <= now - 60 || madeIn > now) continue;
        const key = `${gate}/${device}`;
        const sum = sums.get(key) ?? { gate, device, entries: 0, exits: 0, refused: new Map<string, number>() };
        sums.set(key, sum);
        if (reason !== null) sum.refused.set(reason, (sum.refused.get(reason) ?? 0) + scans);
        else if (type === "entry") sum.entries += scans;
        else sum.exits += scans;
      }
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
