import type { ListFields } from "./list.ts";
import type { PastCheckin } from "./past-scan.ts";

/** A scan of a ticket on a list: a successful one, or an exit that was taken back. */
export interface StoredScan extends PastCheckin {
  /** When it was stored here. */
  readonly createdAt: number;
  /** The objection that `force` overruled. */
  readonly overruled: string | null;
  readonly isOutOfOrder: boolean;
  readonly isAnnulled: boolean;
}

/** An entry that its gate would have refused, had it known what is known now. */
export interface Double {
  readonly scan: StoredScan;
  /** The entry of the same ticket that its gate could not know of; null: its ticket was not to be admitted at all. */
  readonly earlier: StoredScan | null;
  /** What the gate did not know, in the words of refusals. */
  readonly reasons: readonly string[];
}

/** Scanners that have a network are answered within seconds. What is stored later was decided without one. */
const onlineWithin = 10_000_000;

/**
 * Finds the doubles among the scans of one ticket on one list, in the order of time; of equal times in that of ids.
 *
 * An entry is one if its ticket was let in before and has not left since, as far as the list counts exits, and if its gate
 * could know of none of these entries. It knew those that its device had made, and with a network those that were
 * stored here before. An entry that its gate could know to be the second one was somebody's decision, or is one device that
 * repeats itself. Scans without any device are taken for scans of one: nothing tells them apart.
 *
 * An entry that the list allowed when it was stored stays allowed: of two entries the one that was stored later is
 * marked, because `force` overruled that it was the second one, or because it was out of order. Only an exit that was taken
 * back makes two entries of unmarked ones.
 *
 * Any other overruled objection makes a double of an entry by itself, if it was made without a network; once, where one
 * device overruled it again and again.
 */
export function findDoubles(
  scans: readonly StoredScan[],
  list: Pick<ListFields, "allowMultipleEntries" | "allowEntryAfterExit">,
): Double[] {
  const found: Double[] = [];
  let inside = new Inside();
  for (const scan of scans) {
    if (scan.type === "exit") {
      if (scan.isAnnulled) inside.isExitTakenBack = true;
      else if (list.allowEntryAfterExit) inside = new Inside();
      continue;
    }
    const earlier = list.allowMultipleEntries ? null : inside.findUnknownTo(scan);
    const reasons = [...(inside.isOverruledAnew(scan) ? [scan.overruled] : []), ...(earlier === null ? [] : [usedUp])];
    if (reasons.length > 0) found.push({ scan, earlier, reasons });
    inside.add(scan);
  }
  return found;
}

const usedUp = "already_redeemed";

/** A full list says nothing against a ticket. */
const full = "limit";

/** The entries of a ticket since it was last outside. */
class Inside {
  isExitTakenBack = false;
  #last: StoredScan | null = null;
  #firstStoredAt = Number.POSITIVE_INFINITY;
  readonly #devices = new Set<string>();
  readonly #overruled = new Set<string>();

  add(entry: StoredScan): void {
    this.isExitTakenBack = false;
    this.#last = entry;
    this.#firstStoredAt = Math.min(this.#firstStoredAt, entry.createdAt);
    this.#devices.add(nameDevice(entry));
    this.#overruled.add(nameOverruling(entry));
  }

  /** The last of these entries, if the gate of the next one could know of none and the list forbade it. */
  findUnknownTo(entry: StoredScan): StoredScan | null {
    const last = this.#last;
    const couldKnow = this.#devices.has(nameDevice(entry)) || (isMadeOnline(entry) && this.#firstStoredAt <= entry.at);
    if (last === null || couldKnow) return null;
    const storedLater = last.id > entry.id ? last : entry;
    const { overruled } = storedLater;
    const isForbidden = (overruled !== null && overruled !== full) || storedLater.isOutOfOrder || this.isExitTakenBack;
    return isForbidden ? last : null;
  }

  isOverruledAnew(entry: StoredScan): entry is StoredScan & { readonly overruled: string } {
    const { overruled } = entry;
    if (overruled === null || overruled === usedUp || overruled === full || isMadeOnline(entry)) return false;
    return !this.#overruled.has(nameOverruling(entry));
  }
}

/** A time that lies ahead is that of a wrong clock, and says no more of the network than an old one. */
function isMadeOnline({ at, createdAt }: StoredScan): boolean {
  return Math.abs(createdAt - at) <= onlineWithin;
}

/** Devices have a number at their organizer, and where they are known elsewhere an internal id. */
function nameDevice({ device, deviceId }: StoredScan): string {
  if (deviceId !== null) return `${deviceId}`;
  return device === null ? "none" : `internal ${device}`;
}

function nameOverruling(entry: StoredScan): string {
  return `${nameDevice(entry)} ${entry.overruled}`;
}
