import type {
  EndRetentionRequest,
  EndRetentionResponse,
  FindRetentionRequest,
  FindRetentionResponse,
  Retention as Presented,
  SetRetentionRequest,
  SetRetentionResponse,
} from "@tessera/protos/gen/ticketing/shredder/v1/retention";
import { findOwnRetention, type OwnRetentionTools } from "../cases/find-own-retention.ts";
import * as retentions from "../store/retention-rows.ts";
import { deleteRetention, type Retention } from "../store/retention-rows.ts";

/** Finds how long an organizer keeps the personal data of its events. */
export async function findRetention(
  { organizer }: FindRetentionRequest,
  tools: OwnRetentionTools,
): Promise<FindRetentionResponse> {
  const found = await findOwnRetention(organizer, tools);
  return { retention: found && presentRetention(found) };
}

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

/** Switches retention off. Erasures that were already requested are completed. */
export async function endRetention(
  { organizer }: EndRetentionRequest,
  { db, events }: Pick<OwnRetentionTools, "db" | "events">,
): Promise<EndRetentionResponse> {
  await deleteRetention(db, organizer);
  events.retentionEnded(organizer);
  return {};
}

/** Shows how long an organizer keeps the personal data of its events. */
function presentRetention({ days, kinds, changedAt }: Retention): Presented {
  return { days, shredders: [...kinds], changedAt };
}
