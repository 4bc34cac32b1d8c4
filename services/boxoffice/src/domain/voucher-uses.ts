import type { Instant } from "@tessera/values";
import Big from "big.js";

/** What a position takes of the voucher that it names. */
export interface Taking {
  readonly voucher: number;
  /** Whether it uses the voucher: a canceled one only names it. */
  readonly counts: boolean;
  readonly budget: string | null;
}

/** A use from a moment on. */
export interface Use extends Taking {
  readonly since: Instant;
}

/** A use that has ended or changed. */
export interface FormerUse extends Pick<Use, "voucher" | "counts" | "since"> {
  readonly until: Instant;
}

/** Since when a position is as it is. */
export interface UsedSince {
  readonly since: Instant;
  /** Since when it was as the newest state said, if it is as an old one said that came again; else null. */
  readonly overtakenAt: Instant | null;
}

/** Returns whether two states of a position take the same of the same voucher. */
export function takesSame(one: Taking, other: Taking): boolean {
  return one.voucher === other.voucher && one.counts === other.counts && budgetOf(one).eq(budgetOf(other));
}

function budgetOf({ counts, budget }: Taking): Big {
  return new Big((counts ? budget : null) ?? 0);
}

/** Whether a state ends what an old state, which came again, was taken for: it is not older than the newest one. */
export function endsOld(told: Instant, { overtakenAt }: UsedSince): boolean {
  return overtakenAt !== null && overtakenAt <= told;
}

/**
 * Returns when a use changes: when its shop says, but always after its last change, if the position was
 * known before. As clocks differ, it does not change before the moment of a record in the future. An old state that comes
 * again begins now, and nothing of it stays once it is ended by one that is not older than the newest.
 */
export function momentOf(
  { told, last }: { readonly told: Instant; readonly last: UsedSince | undefined },
  { now, countedAsOf }: { readonly now: Instant; readonly countedAsOf: Instant },
): UsedSince {
  const isTold =
    last === undefined || (told > last.since ? countedAsOf <= now : told < last.since && endsOld(told, last));
  if (isTold) return { since: told, overtakenAt: null };
  const since = Math.max(now, last.since + 1, countedAsOf);
  return { since, overtakenAt: told < last.since ? (last.overtakenAt ?? last.since) : null };
}

/** Ends former uses at a moment, and leaves out what began later. */
export function endAt(former: readonly FormerUse[], at: Instant): FormerUse[] {
  return former.flatMap((use) => (use.since < at ? [{ ...use, until: Math.min(use.until, at) }] : []));
}

/** The uses of a position, before or after a change. */
export type Uses = readonly (Use | FormerUse)[];

/** Sums what changes add to the records of vouchers, whose moments are given, by the ids of the vouchers. */
export function sumAdded(
  changes: readonly { readonly before: Uses; readonly after: Uses }[],
  countedAsOf: ReadonlyMap<number, Instant | null>,
): ReadonlyMap<number, number> {
  const added = new Map<number, number>();
  for (const { before, after } of changes) {
    for (const [uses, times] of [
      [before, -1],
      [after, 1],
    ] as const)
      for (const use of uses) {
        const adds = times * usesBeside(use, countedAsOf.get(use.voucher) ?? Number.NEGATIVE_INFINITY);
        added.set(use.voucher, (added.get(use.voucher) ?? 0) + adds);
      }
  }
  return added;
}

/** What a use adds to the record of its voucher, which contains the uses of its moment. */
function usesBeside(use: Use | FormerUse, countedAsOf: Instant): number {
  const until = "until" in use ? use.until : Number.POSITIVE_INFINITY;
  const isContained = use.since < countedAsOf && countedAsOf <= until;
  return use.counts ? Number(!("until" in use)) - Number(isContained) : 0;
}
