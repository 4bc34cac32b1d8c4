import { addIds, recallOfEvent } from "@tessera/records/brought";
import type { RecordOwner } from "@tessera/records/kind";
import { findEvent } from "../store/events.ts";
import { findReferences } from "../store/known-ids.ts";
import { lockLists } from "../store/lists.ts";
import { checkinList } from "./checkin-list.ts";
import type { Known, Mentioned } from "./known.ts";

export const recordOwner: RecordOwner<Mentioned, Known> = {
  kinds: [checkinList],
  nothingMentioned: () => ({ items: new Set(), subevents: new Set() }),
  async findMentioned(tx, scope, mentioned) {
    const event = await findEvent(tx, scope);
    // There is no copy of organizers; where an organizer is unknown, so are its events.
    return { organizer: true, series: event?.hasSubevents, ...(await findReferences(tx, scope, mentioned)) };
  },
  recall: recallOfEvent((known, entities) => ({
    items: addIds(known.items, "item", entities),
    subevents: addIds(known.subevents, "subevent", entities),
  })),
  async lock(tx, records) {
    await lockLists(
      tx,
      records.map(({ scope, key }) => ({ ...scope, id: Number(key) })),
    );
  },
};
