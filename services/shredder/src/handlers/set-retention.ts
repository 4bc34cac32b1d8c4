import type { SetRetentionRequest, SetRetentionResponse } from "@tessera/protos/gen/ticketing/shredder/v1/retention";
import type { OwnRetentionTools } from "../cases/find-own-retention.ts";
import * as retentions from "../store/retentions.ts";
import { presentRetention } from "./present-retention.ts";

/** Sets how long an organizer keeps the personal data of its events. */
export async function setRetention(
  { organizer, days, shredders, instance }: SetRetentionRequest,
  { db, events, shredding }: OwnRetentionTools,
): Promise<SetRetentionResponse> {
  const kinds = [...new Set(shredders)].sort();
  const { createdAt: organizerCreatedAt } = await shredding.findOrganizer({ organizer });
  const row = { organizer, days, kinds, instance, organizerCreatedAt };
  const set = await db.transaction((tx) => retentions.setRetention(tx, row));
  events.retentionSet(organizer, { days, kinds });
  return { retention: presentRetention(set) };
}
