import type { AdmissionTerms } from "./list.ts";

export type ScanType = "entry" | "exit";

/** The sum of the successful scans of one ticket on one list. */
export interface Presence {
  /** Rises with every scan, and with every scan that is taken back. */
  readonly version: number;
  readonly entries: number;
  /** The scan with the latest instant; among equal instants the last to arrive. */
  readonly last: { readonly type: ScanType; readonly at: number } | null;
}

/** The presence of a ticket that was never scanned on the list. */
export const neverScanned: Presence = { version: 0, entries: 0, last: null };

/** Adds a scan, which may be older than scans that are already known. */
export function afterScan(presence: Presence, scan: { readonly type: ScanType; readonly at: number }): Presence {
  return {
    version: presence.version + 1,
    entries: presence.entries + (scan.type === "entry" ? 1 : 0),
    last: presence.last === null || scan.at >= presence.last.at ? { type: scan.type, at: scan.at } : presence.last,
  };
}

export function hasEntered(presence: Presence): boolean {
  return presence.entries > 0;
}

export function isInside(presence: Presence): boolean {
  return presence.last?.type === "entry";
}

/** Returns whether the ticket may enter (again): exits alone never use it up. */
export function mayEnter(
  presence: Presence,
  list: Pick<AdmissionTerms, "allowMultipleEntries" | "allowEntryAfterExit">,
): boolean {
  if (list.allowMultipleEntries || !hasEntered(presence)) return true;
  return list.allowEntryAfterExit && !isInside(presence);
}

/**
 * Whether an entry is older than a scan that was stored before it, on a list that lets a ticket in once at a time.
 * Nothing objects to such an entry, and yet it may be a second one.
 */
export function isOutOfOrder(
  presence: Presence,
  scan: { readonly type: ScanType; readonly at: number },
  list: Pick<AdmissionTerms, "allowMultipleEntries">,
): boolean {
  const { last } = presence;
  return scan.type === "entry" && !list.allowMultipleEntries && last !== null && scan.at < last.at;
}

/** What a change of presence adds to the counts of its list. */
export function countChange(before: Presence, after: Presence): { readonly entered: number; readonly inside: number } {
  return {
    entered: Number(hasEntered(after)) - Number(hasEntered(before)),
    inside: Number(isInside(after)) - Number(isInside(before)),
  };
}
