import { addIds, recallOfEvent } from "@tessera/records/brought";
import type { RecordOwner } from "@tessera/records/kind";
import { findItems, lockItems } from "../store/copies.ts";
import { hasEvent, lockEvents } from "../store/events.ts";
import { findLayoutIds } from "../store/stored-layouts.ts";
import type { Known, Mentioned } from "./known.ts";
import { ticketLayout } from "./ticket-layout.ts";
import { ticketLayoutItem } from "./ticket-layout-item.ts";

export const recordOwner: RecordOwner<Mentioned, Known> = {
  kinds: [ticketLayout, ticketLayoutItem],
  nothingMentioned: () => ({ items: new Set(), layouts: new Set() }),
  async findMentioned(tx, scope, { items, layouts }) {
    return {
      // There is no copy of organizers; where an organizer is unknown, so are its events.
      organizer: true,
      // No layout belongs to a date, so it does not matter whether an event is a series.
      series: (await hasEvent(tx, scope)) ? false : undefined,
      items: await findItems(tx, scope, [...items]),
      layouts: await findLayoutIds(tx, scope, [...layouts]),
    };
  },
  recall: recallOfEvent((known, entities) => ({
    items: addIds(known.items, "item", entities),
    layouts: addIds(known.layouts, "ticket_layout", entities),
  })),
  async lockMentioned(tx, scope, { items }) {
    await lockItems(tx, scope, [...items]);
  },
  async lock(tx, records) {
    await lockEvents(tx, [
      ...new Map(records.map(({ scope }) => [`${scope.organizer}/${scope.event}`, scope])).values(),
    ]);
  },
};
