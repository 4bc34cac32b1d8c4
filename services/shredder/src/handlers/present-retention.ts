import type { Retention as Presented } from "@tessera/protos/gen/ticketing/shredder/v1/retention";
import type { Retention } from "../store/retentions.ts";

/** Shows how long an organizer keeps the personal data of its events. */
export function presentRetention({ days, kinds, changedAt }: Retention): Presented {
  return { days, shredders: [...kinds], changedAt };
}
