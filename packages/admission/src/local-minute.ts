import { formatInstant, type Instant } from "@tessera/values";
import { earliest, type LocalDateTime, latest, toLocal, type Zone } from "./local-time.ts";

/** Converts an instant to the wall clock of the zone, clamped to the years 1 to 9999; without a zone, to UTC. */
export function toLocalMinute(instant: Instant, zone: Zone | null): LocalDateTime {
  const local = zone === null ? instant : toLocal(instant, zone);
  // In zones east of UTC the last hours of 9999 are in 10000 already, which is no year here.
  return Math.min(Math.max(local, earliest), latest);
}

/** Formats an instant on the wall clock of the zone, `2026-11-21 18:30`; without a zone, in UTC. */
export function formatLocalMinute(instant: Instant, zone: Zone | null): string {
  return formatInstant(toLocalMinute(instant, zone)).slice(0, "2026-11-21T18:30".length).replace("T", " ");
}
