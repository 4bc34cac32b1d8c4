import { cutPage } from "@tessera/kit/cut-page";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import {
  type EndRetentionRequest,
  type EndRetentionResponse,
  type FindRetentionRequest,
  type FindRetentionResponse,
  type ListErasedRequest,
  type ListErasedResponse,
  type ListUpcomingRequest,
  type ListUpcomingResponse,
  type SetRetentionRequest,
  type SetRetentionResponse,
  UpcomingState,
} from "@tessera/protos/gen/ticketing/shredder/v1/retention";
import type { Shredding } from "@tessera/protos/services";
import { type AnnouncedState, shownBefore, stateOf } from "../domain/retention.ts";
import type { ShredEvents } from "../events.ts";
import { findOwnRetention } from "../find-own-retention.ts";
import { countUpcoming, pageUpcoming } from "../store/announcements.ts";
import { countErased, pageErased } from "../store/cases.ts";
import * as retentions from "../store/retentions.ts";

export interface RetentionStores {
  readonly db: Db;
  readonly events: ShredEvents;
}

interface RetentionTools extends RetentionStores {
  readonly shredding: Client<Shredding>;
}

/** Finds how long an organizer keeps the personal data of its events. */
export async function findRetention(
  { organizer }: FindRetentionRequest,
  tools: RetentionTools,
): Promise<FindRetentionResponse> {
  const found = await findOwnRetention(organizer, tools);
  return { retention: found && toMessage(found) };
}

/** Sets how long an organizer keeps the personal data of its events. */
export async function setRetention(
  { organizer, days, shredders, instance }: SetRetentionRequest,
  { db, events, shredding }: RetentionTools,
): Promise<SetRetentionResponse> {
  const kinds = [...new Set(shredders)].sort();
  const { createdAt: organizerCreatedAt } = await shredding.findOrganizer({ organizer });
  const row = { organizer, days, kinds, instance, organizerCreatedAt };
  const set = await db.transaction((tx) => retentions.setRetention(tx, row));
  events.retentionSet(organizer, { days, kinds });
  return { retention: toMessage(set) };
}

/** Switches retention off. What has been asked of services is erased nevertheless. */
export async function endRetention(
  { organizer }: EndRetentionRequest,
  { db, events }: RetentionStores,
): Promise<EndRetentionResponse> {
  await retentions.deleteRetention(db, organizer);
  events.retentionEnded(organizer);
  return {};
}

function toMessage({ days, kinds, changedAt }: retentions.Retention) {
  return { days, shredders: [...kinds], changedAt };
}

/** Pages through the erasures that are announced. */
export async function listUpcoming(
  { organizer, ...asked }: ListUpcomingRequest,
  { db, ...tools }: RetentionTools,
): Promise<ListUpcomingResponse> {
  await findOwnRetention(organizer, { db, ...tools });
  const { now } = await retentions.readClock(db);
  const of = { organizer, before: shownBefore(now) };
  const count = await countUpcoming(db, of);
  const { page, limit, offset } = cutPage(asked, count);
  const found = await pageUpcoming(db, { ...of, limit, offset });
  const erasures = found.map((each) => {
    const state = stateOf(each, { now });
    const reason = state === "blocked" ? (each.problem ?? undefined) : undefined;
    return { event: each.event, dueAt: each.dueAt, shredders: [...each.kinds], state: states[state], reason };
  });
  return { erasures, count, page };
}

const states: Readonly<Record<AnnouncedState, UpcomingState>> = {
  announced: UpcomingState.ANNOUNCED,
  due: UpcomingState.DUE,
  exporting: UpcomingState.EXPORTING,
  erasing: UpcomingState.ERASING,
  blocked: UpcomingState.BLOCKED,
};

/** Pages through the erasures that retention has made. */
export async function listErased(
  { organizer, ...asked }: ListErasedRequest,
  { db }: RetentionStores,
): Promise<ListErasedResponse> {
  const count = await countErased(db, organizer);
  const { page, limit, offset } = cutPage(asked, count);
  const found = await pageErased(db, { organizer, limit, offset });
  const erasures = found.map(({ event, id, kinds, erasedAt }) => ({
    event,
    case: id,
    shredders: [...kinds],
    erasedAt,
  }));
  return { erasures, count, page };
}
