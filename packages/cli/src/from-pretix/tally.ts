import { printable } from "../command/printable.ts";
import {
  type AmbiguousSecret,
  describeAmbiguous,
  describeErrors,
  notSettled,
  type OverbookedQuota,
} from "../import/import-answer.ts";
import type { SentAnswer, SentRecord } from "./record-feed.ts";

interface Count {
  read: number;
  rejected: number;
}

/** Reasons of rejections or warnings, with counts and examples. */
type Reasons = Map<string, { count: number; readonly first: string[] }>;

/** So many of each list are printed; the rest is counted. */
const mostLines = 20;

const mostReasons = 1000;

/** Counts what a run reads and how the platform answers, for a summary at its end. */
export class Tally {
  readonly #kinds = new Map<string, Count>();
  readonly #rejections: Reasons = new Map();
  readonly #warnings: Reasons = new Map();
  #warned = 0;
  readonly #overbooked = new Map<string, OverbookedQuota>();
  readonly #ambiguous = new Map<string, AmbiguousSecret>();
  readonly #rejectedOf = new Map<string, number>();
  readonly #leftOut: string[] = [];
  #leftOutCount = 0;
  #unchangedLists = 0;
  /** Whether all services have caught up with every import. */
  settled = true;

  /** Counts the records of an import, and returns the rejected ones. */
  count(records: readonly SentRecord[], answer: SentAnswer): SentRecord[] {
    if (!answer.settled) this.settled = false;
    for (const { kind } of records) this.#of(kind).read += 1;
    // The last report of a quota counts.
    for (const quota of answer.overbooked ?? []) this.#overbooked.set(`${quota.event}/${quota.quota}`, quota);
    // Every import reports the secrets of the whole event; the last report of a position counts.
    for (const secret of answer.ambiguous_secrets ?? [])
      this.#ambiguous.set(`${secret.event}/${secret.positions[0]?.id}`, secret);
    for (const { line, warnings } of answer.warnings) {
      const record = records[line - 1];
      if (record !== undefined) note(this.#warnings, record, warnings);
    }
    this.#warned += answer.warned;
    return answer.errors.flatMap(({ line, errors }) => {
      const record = records[line - 1];
      if (record === undefined) return [];
      this.#reject(record, errors);
      return [record];
    });
  }

  /** How many records of a kind of an event were rejected so far. */
  rejectedOf(event: string, kind: string): number {
    return this.#rejectedOf.get(`${event} ${kind}`) ?? 0;
  }

  leaveOut(what: string): void {
    this.#leftOutCount += 1;
    if (this.#leftOut.length < mostLines) this.#leftOut.push(printable(what));
  }

  unchanged(): void {
    this.#unchangedLists += 1;
  }

  get rejected(): number {
    return [...this.#kinds.values()].reduce((sum, { rejected }) => sum + rejected, 0);
  }

  /** Returns the summary, in lines. */
  describe({ events, seconds }: { events: number; seconds: number }): string {
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
    if (this.#warned > 0)
      lines.push(
        "Accepted with warnings: what is named here was left out, or is doubtful.",
        ...describe(this.#warnings, this.#warned),
      );
    for (const { event, quota, size, taken } of [...this.#overbooked.values()].slice(0, mostLines))
      lines.push(`Quota ${quota} of ${event} is overbooked: ${taken} taken of ${size}.`);
    for (const secret of [...this.#ambiguous.values()].slice(0, mostLines)) lines.push(`${describeAmbiguous(secret)}.`);
    if (!this.settled) lines.push(notSettled);
    return `${lines.join("\n")}\n`;
  }

  #describeRejections(): string[] {
    if (this.rejected === 0) return [];
    return [
      "Rejected:",
      ...describe(this.#rejections, this.rejected),
      "Correct the data in pretix, or use a version that knows the kind, and run the same command again: it sends rejected records again.",
    ];
  }

  #reject({ kind, event, key }: SentRecord, errors: SentAnswer["errors"][number]["errors"]): void {
    this.#of(kind).rejected += 1;
    this.#rejectedOf.set(`${event} ${kind}`, this.rejectedOf(event, kind) + 1);
    note(this.#rejections, { kind, event, key }, errors);
  }

  #of(kind: string): Count {
    const count = this.#kinds.get(kind) ?? { read: 0, rejected: 0 };
    this.#kinds.set(kind, count);
    return count;
  }
}

function note(
  reasons: Reasons,
  { kind, event, key }: SentRecord,
  errors: SentAnswer["errors"][number]["errors"],
): void {
  const why = `${kind}: ${describeErrors(errors)}`;
  const known = reasons.get(why);
  // Bounds the memory; further reasons are only counted.
  if (known === undefined && reasons.size >= mostReasons) return;
  const { count, first } = known ?? { count: 0, first: [] };
  if (first.length < 3) first.push(printable(event === "" ? key : `${event} ${key}`));
  reasons.set(why, { count: count + 1, first });
}

function describe(reasons: Reasons, all: number): string[] {
  const shown = [...reasons.entries()].slice(0, mostLines);
  const shownCount = shown.reduce((sum, [, { count }]) => sum + count, 0);
  return [
    ...shown.map(
      ([why, { count, first }]) => `  ${why} (${count}×: ${first.join(", ")}${count > first.length ? ", …" : ""})`,
    ),
    ...(shownCount < all ? [`  … ${all - shownCount} more`] : []),
  ];
}
