import type { EndRetentionRequest, EndRetentionResponse } from "@tessera/protos/gen/ticketing/shredder/v1/retention";
import type { OwnRetentionTools } from "../cases/find-own-retention.ts";
import { deleteRetention } from "../store/retentions.ts";

/** Switches retention off. What has been asked of services is erased nevertheless. */
export async function endRetention(
  { organizer }: EndRetentionRequest,
  { db, events }: Pick<OwnRetentionTools, "db" | "events">,
): Promise<EndRetentionResponse> {
  await deleteRetention(db, organizer);
  events.retentionEnded(organizer);
  return {};
}
