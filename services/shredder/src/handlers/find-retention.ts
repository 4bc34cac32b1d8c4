import type { FindRetentionRequest, FindRetentionResponse } from "@tessera/protos/gen/ticketing/shredder/v1/retention";
import { findOwnRetention, type OwnRetentionTools } from "../cases/find-own-retention.ts";
import { presentRetention } from "./present-retention.ts";

/** Finds how long an organizer keeps the personal data of its events. */
export async function findRetention(
  { organizer }: FindRetentionRequest,
  tools: OwnRetentionTools,
): Promise<FindRetentionResponse> {
  const found = await findOwnRetention(organizer, tools);
  return { retention: found && presentRetention(found) };
}
