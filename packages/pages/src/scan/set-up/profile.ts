import { deviceProfileOf, standsInPublic } from "@tessera/values";

/** What the crew of a device may do on this page. */
export interface Allowances {
  /** A menu, the last scans, and another list. */
  readonly menu: boolean;
  readonly search: boolean;
  /** Admitting who has not paid, where the list includes them. */
  readonly unpaid: boolean;
  /** Admitting what was refused, and taking a scan back. */
  readonly supervise: boolean;
}

/** A device of the profile `full` is a supervisor's. One in public only scans. */
export function allowancesOf(profile: string): Allowances {
  const known = deviceProfileOf(profile);
  const isPublic = standsInPublic(known);
  return { menu: !isPublic, search: !isPublic, unpaid: !isPublic, supervise: known === "full" };
}
