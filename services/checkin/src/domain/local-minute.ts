import { formatInstant, type Instant } from "@tessera/values";
import { earliest, type LocalDateTime, latest, toLocal, type Zone } from "./local-time.ts";

/** What a wall clock of the zone shows, within the years that there are; without a zone, that of UTC. */
export function toLocalMinute(instant: Instant, zone: Zone | null): LocalDateTime {
  const local = zone === null ? instant : toLocal(instant, zone);
  // Hours ahead of the end of 9999 it is 10000 already, which is no year here.
  return Math.min(Math.max(local, earliest), latest);
}

/** Writes an instant as a wall clock of the zone shows it, `2026-11-21 18:30`; without a zone, as UTC has it. */
export function formatLocalMinute(instant: Instant, zone: Zone | null): string {
  return formatInstant(toLocalMinute(instant, zone)).slice(0, "2026-11-21T18:30".length).replace("T", " ");
}
