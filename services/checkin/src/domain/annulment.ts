export interface NamedScan {
  readonly successful: boolean;
  readonly position: number | null;
  /** The device that made it; null: a key. */
  readonly deviceId: number | null;
  readonly at: number;
}

/** A visitor who was turned away at once may come back; what was admitted long ago stays. */
const longestMicros = 15 * 60 * 1_000_000;

export type Objection = "unsuccessful" | "too_late" | "other_device";

/** Why a scan cannot be annulled; undefined: it can. */
export function objectToAnnulment(
  scan: NamedScan,
  { at, deviceId }: { readonly at: number; readonly deviceId: number | null },
): Objection | undefined {
  if (!scan.successful || scan.position === null) return "unsuccessful";
  if (at - scan.at > longestMicros) return "too_late";
  return scan.deviceId === deviceId ? undefined : "other_device";
}
