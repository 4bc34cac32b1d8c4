import { cutPage } from "@tessera/kit/cut-page";
import type { Db } from "@tessera/kit/pg/database";
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
import { type AnnouncedState, shownBefore, stateOf } from "../domain/retention.ts";
import type { ShredEvents } from "../events.ts";
import { countUpcoming, pageUpcoming } from "../store/announcements.ts";
import { countErased, pageErased } from "../store/cases.ts";
import * as retentions from "../store/retentions.ts";

export interface RetentionStores {
  readonly db: Db;
  readonly events: ShredEvents;
}

/** Finds how long an organizer keeps the personal data of its events. */
export async function findRetention(
  { organizer }: FindRetentionRequest,
  { db }: RetentionStores,
): Promise<FindRetentionResponse> {
  const found = await retentions.findRetention(db, organizer);
  return { retention: found && toMessage(found) };
}

/** Sets how long an organizer keeps the personal data of its events. */
export async function setRetention(
  { organizer, days, shredders, instance }: SetRetentionRequest,
  { db, events }: RetentionStores,
): Promise<SetRetentionResponse> {
  const kinds = [...new Set(shredders)].sort();
  const set = await db.transaction((tx) => retentions.setRetention(tx, { organizer, days, kinds, instance }));
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
  { db }: RetentionStores,
): Promise<ListUpcomingResponse> {
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
