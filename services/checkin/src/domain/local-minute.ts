import { formatInstant, type Instant } from "@tessera/values";
import { earliest, latest, toLocal, type Zone } from "./local-time.ts";

/** Writes an instant as a wall clock of the zone shows it, `2026-11-21 18:30`; without a zone, as UTC has it. */
export function formatLocalMinute(instant: Instant, zone: Zone | null): string {
  const local = zone === null ? instant : toLocal(instant, zone);
  // Hours ahead of the end of 9999 it is 10000 already, which is no year here.
  const written = Math.min(Math.max(local, earliest), latest);
  return formatInstant(written).slice(0, "2026-11-21T18:30".length).replace("T", " ");
}
