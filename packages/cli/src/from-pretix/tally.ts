import { describeAmbiguous } from "../ambiguous-secret.ts";
import { printable } from "../printable.ts";
import type { Ambiguous, Overbooked, Rejection } from "./record-feed.ts";

interface Count {
  read: number;
  rejected: number;
}

/** So much is told in full; the rest is counted. */
const mostLines = 20;

/** Counts what a run reads and what becomes of it, and says so at its end. */
export class Tally {
  readonly #kinds = new Map<string, Count>();
  readonly #rejections = new Map<string, { count: number; readonly first: string[] }>();
  readonly #overbooked = new Map<string, Overbooked>();
  readonly #ambiguous = new Map<string, Ambiguous>();
  readonly #leftOut: string[] = [];
  #leftOutCount = 0;
  #unchangedLists = 0;

  sent(kind: string): void {
    this.#of(kind).read += 1;
  }

  reject({ kind, event, key, errors }: Rejection): void {
    this.#of(kind).rejected += 1;
    const fields = Object.entries(errors).map(([field, messages]) => `${field}: ${messages.join(" ")}`);
    const why = `${kind}: ${fields.join("; ")}`;
    const known = this.#rejections.get(why);
    // A reason for every record would fill the memory; what is not told is counted by kind.
    if (known === undefined && this.#rejections.size >= 1000) return;
    const { count, first } = known ?? { count: 0, first: [] };
    if (first.length < 3) first.push(printable(event === "" ? key : `${event} ${key}`));
    this.#rejections.set(why, { count: count + 1, first });
  }

  leaveOut(what: string): void {
    this.#leftOutCount += 1;
    if (this.#leftOut.length < mostLines) this.#leftOut.push(printable(what));
  }

  /** What was said last of a quota counts. */
  overbook(quota: Overbooked): void {
    this.#overbooked.set(`${quota.event}/${quota.quota}`, quota);
  }

  /** Every part of a run reports the secrets of the whole event; what was said last of a position counts. */
  share(secret: Ambiguous): void {
    this.#ambiguous.set(`${secret.event}/${secret.positions[0]?.id}`, secret);
  }

  unchanged(): void {
    this.#unchangedLists += 1;
  }

  get rejected(): number {
    return [...this.#kinds.values()].reduce((sum, { rejected }) => sum + rejected, 0);
  }

  /** The summary, in lines. */
  describe({ events, seconds, settled }: { events: number; seconds: number; settled: boolean }): string {
    const lines = [`Read ${events} ${events === 1 ? "event" : "events"} of pretix in ${seconds.toFixed(1)} s.`];
    const width = Math.max(4, ...[...this.#kinds.keys()].map((kind) => kind.length));
    const row = (name: string, ...cells: (number | string)[]) =>
      `  ${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(10)).join("")}`;
    lines.push(row("", "read", "accepted", "rejected"));
    for (const [kind, { read, rejected }] of this.#kinds) lines.push(row(kind, read, read - rejected, rejected));
    if (this.#unchangedLists > 0)
      lines.push(`Unchanged since the last run and not read again: ${this.#unchangedLists} lists.`);
    if (this.#leftOutCount > 0) lines.push("Left out:", ...this.#leftOut.map((what) => `  ${what}`));
    if (this.#leftOutCount > this.#leftOut.length) lines.push(`  … ${this.#leftOutCount - this.#leftOut.length} more`);
    lines.push(...this.#describeRejections());
    for (const { event, quota, size, taken } of [...this.#overbooked.values()].slice(0, mostLines))
      lines.push(`Quota ${quota} of ${event} is overbooked: ${taken} taken of ${size}.`);
    for (const secret of [...this.#ambiguous.values()].slice(0, mostLines)) lines.push(`${describeAmbiguous(secret)}.`);
    if (!settled) lines.push("Not every service has caught up yet; the records are stored and will appear.");
    return `${lines.join("\n")}\n`;
  }

  #describeRejections(): string[] {
    if (this.rejected === 0) return [];
    const told = [...this.#rejections.entries()].slice(0, mostLines);
    const toldCount = told.reduce((sum, [, { count }]) => sum + count, 0);
    return [
      "Rejected:",
      ...told.map(
        ([why, { count, first }]) => `  ${why} (${count}×: ${first.join(", ")}${count > first.length ? ", …" : ""})`,
      ),
      ...(toldCount < this.rejected ? [`  … ${this.rejected - toldCount} more`] : []),
      "Mend what is wrong in pretix, or take a version that knows the kind, and run the same command again: what was rejected is sent again.",
    ];
  }

  #of(kind: string): Count {
    const count = this.#kinds.get(kind) ?? { read: 0, rejected: 0 };
    this.#kinds.set(kind, count);
    return count;
  }
}
