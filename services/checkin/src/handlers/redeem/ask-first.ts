import { setTimeout } from "node:timers/promises";
import type { ArrivedScan } from "@tessera/admission";
import type { CheckinEvents } from "../../report-events.ts";
import type { UnknownTickets } from "./ask-boxoffice.ts";
import { type ToLink, unknownYet } from "./decision.ts";
import type { LinkMedia } from "./link-medium.ts";

export interface AskFirstDeps {
  readonly events: Pick<CheckinEvents, "mediumNotLinked">;
  /** Fetches tickets that were sold so lately that they are unknown here. */
  readonly unknownTickets: Pick<UnknownTickets, "fetch">;
  readonly linkMedia: LinkMedia;
}

/**
 * Asks boxoffice what a decision needs, until that time by `performance.now`; returns the scan as it is to be decided
 * again. Undefined: there is no answer, and the scan stays undecided.
 *
 * A medium is linked before the admission is stored: if the process ends in between, the scan is sent again, and finds the
 * medium linked.
 */
export async function askFirst(
  { events, unknownTickets, linkMedia }: AskFirstDeps,
  {
    scan,
    needs,
    until,
  }: { readonly scan: ArrivedScan; readonly needs: typeof unknownYet | ToLink; readonly until: number },
): Promise<ArrivedScan | undefined> {
  const { medium } = scan;
  const asked = { ...scan, mayBeNew: false };
  if (needs === unknownYet)
    return scan.mayBeNew && (await isInTime(unknownTickets.fetch(scan), until)) ? asked : undefined;
  if (medium === null || medium.answer !== undefined) return undefined;
  try {
    const answer = await linkMedia.link(needs.toLink, Math.max(until - performance.now(), leastMs));
    return { ...asked, medium: { ...medium, answer } };
  } catch (error) {
    events.mediumNotLinked(scan, error);
    return undefined;
  }
}

/** However late it is, so long is left for what comes next. */
export const leastMs = 10;

/** Whether the work succeeds before that time; the work is not aborted. */
async function isInTime(work: Promise<boolean>, until: number): Promise<boolean> {
  const late = new AbortController();
  const isLate = setTimeout(Math.max(until - performance.now(), 0), false, { signal: late.signal }).catch(() => false);
  const inTime = await Promise.race([work, isLate]);
  late.abort();
  return inTime;
}
