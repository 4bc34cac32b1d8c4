import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type { Shredding } from "@tessera/protos/services";
import type { ShredEvents } from "../report-events.ts";
import * as retentions from "../store/retention-rows.ts";

export interface OwnRetentionTools {
  readonly db: Db;
  readonly shredding: Client<Shredding>;
  readonly events: ShredEvents;
}

/**
 * Finds what the organizer that has this name now has set. What a former one has set ends here, with its announcements. Where
 * boxoffice was asked for events of the setting before, this tells that they were of the same organizer.
 */
export async function findOwnRetention(
  organizer: string,
  { db, shredding, events }: OwnRetentionTools,
): Promise<retentions.Retention | undefined> {
  const found = await retentions.findRetention(db, organizer);
  if (found === undefined) return undefined;
  const createdAt = await shredding.findOrganizer({ organizer }).then((answer) => answer.createdAt, unlessGone);
  if (createdAt === found.organizerCreatedAt) return found;
  if (await retentions.deleteForeign(db, found)) events.retentionEnded(organizer);
  return undefined;
}

function unlessGone(error: unknown): undefined {
  if (error instanceof Fault && error.code === "organizer_not_found") return undefined;
  throw error;
}
