import { signal } from "@preact/signals";
import type { Attempt } from "../one-scan.ts";
import { now } from "../server/clock.ts";
import type { Verdict } from "../verdict/verdict.ts";

export interface PastVerdict {
  readonly at: number;
  readonly attempt: Attempt;
  readonly verdict: Verdict;
}

/** How many a crew looks back on. They are in memory alone: a phone that is found tells no names. */
const most = 10;

/** The newest first. */
export const lastScans = signal<readonly PastVerdict[]>([]);

export function addToHistory({ attempt, verdict }: Omit<PastVerdict, "at">): void {
  lastScans.value = [{ at: now(), attempt, verdict }, ...lastScans.value].slice(0, most);
}

export function clearHistory(): void {
  lastScans.value = [];
}

/** The last scan that let a visitor in or out, which can be taken back. */
export function findLastAdmitted(): PastVerdict | undefined {
  return lastScans.value.find(({ verdict }) => verdict.kind === "admitted");
}

/** Leaves a scan out that was taken back. */
export function dropFromHistory({ attempt }: PastVerdict): void {
  lastScans.value = lastScans.value.filter((each) => each.attempt.nonce !== attempt.nonce);
}
