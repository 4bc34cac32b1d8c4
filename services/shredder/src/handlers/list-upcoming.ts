import { cutPage } from "@tessera/kit/lists/cut-page";
import {
  type ListUpcomingRequest,
  type ListUpcomingResponse,
  UpcomingState,
} from "@tessera/protos/gen/ticketing/shredder/v1/retention";
import { findOwnRetention, type OwnRetentionTools } from "../cases/find-own-retention.ts";
import { type AnnouncedState, shownBefore, stateOf } from "../domain/retention.ts";
import { countUpcoming, pageUpcoming } from "../store/announcements.ts";
import { readClock } from "../store/retention-rows.ts";

/** Pages through the erasures that are announced. */
export async function listUpcoming(
  { organizer, ...asked }: ListUpcomingRequest,
  tools: OwnRetentionTools,
): Promise<ListUpcomingResponse> {
  const { db } = tools;
  await findOwnRetention(organizer, tools);
  const { now } = await readClock(db);
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
