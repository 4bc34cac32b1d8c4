import { dayLength, type LocalDateTime, toInstant, toLocal, type Zone } from "@tessera/admission";
import type { Instant } from "@tessera/values";

/** The time at which a list checks out all tickets that are inside. */
export interface AutomaticExit {
  readonly at: Instant;
  /** The local time that the organizer set, where the day of `at` does not have that time. */
  readonly local: LocalDateTime | null;
}

const hour = 3_600_000_000;

/**
 * Finds the first day after an exit on which the same local time comes after `notBefore`.
 *
 * On a day whose clocks skip that time, the exit is an hour later, and on the day after at its own time again. Of a time that
 * comes twice, the later one counts.
 */
export function nextExit(
  exit: AutomaticExit,
  { zone, notBefore }: { readonly zone: Zone; readonly notBefore: Instant },
): AutomaticExit {
  const local = localTimeOf(exit, zone);
  const passed = Math.floor((toLocal(notBefore, zone) - local) / dayLength);
  for (let days = Math.max(1, passed); ; days += 1) {
    const next = exitAt(local + days * dayLength, zone);
    if (next.at > exit.at && next.at > notBefore) return next;
  }
}

/** The stored local time belongs to one instant: with another instant, an organizer has set another time. */
function localTimeOf({ at, local }: AutomaticExit, zone: Zone): LocalDateTime {
  return local !== null && exitAt(local, zone).at === at ? local : toLocal(at, zone);
}

function exitAt(local: LocalDateTime, zone: Zone): AutomaticExit {
  const at = toInstant(local, zone, { ambiguous: "later" });
  return toLocal(at, zone) === local
    ? { at, local: null }
    : { at: toInstant(local + hour, zone, { ambiguous: "later" }), local };
}
