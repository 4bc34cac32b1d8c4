import { topics } from "@tessera/protos/topics";
import type { BroughtAs } from "@tessera/records/brought";
import { compileReader, noteUnread, type Reading } from "@tessera/records/read";
import { refuseEach } from "@tessera/records/validate";
import { type EventDocument, type EventSettings, eventRecord } from "@tessera/resources/records/event";
import type { TypeOf } from "@tessera/schema/schema";
import * as events from "../store/events.ts";
import { eventFact } from "../wire/event-fact.ts";
import { beginRemoval } from "./event-removal.ts";
import { defaultSettings, timeZoneRule } from "./event-settings.ts";
import type { RecordKind } from "./kind.ts";

type Event = TypeOf<typeof eventRecord>;

const readEvent = compileReader(eventRecord, { rules: { timezone: timeZoneRule } });

/** An event. Its removal deletes everything in it. */
export const event: RecordKind<Reading<Event>> = {
  name: "event",
  schema: eventRecord,
  read: (data, _leftOut, wrong = []) => noteUnread(readEvent(data), wrong),
  keyOf: ({ data }) => data.slug,
  mention: ({ data }, mentioned) => mentioned.events.add(data.slug),
  async refuse(_tx, { values, known }) {
    return refuseEach(values, ({ data }, addError) => {
      const series = known.events.get(data.slug) ?? data.has_subevents;
      if (series !== data.has_subevents) addError("has_subevents", "A series stays one, and no event becomes one.");
    });
  },
  bring: ({ data }): BroughtAs<"event"> => ({ data: { isSeries: data.has_subevents } }),
  async store(tx, { scope: { organizer }, values }) {
    const rows = values.map(({ data, document }) => ({ slug: data.slug, document }));
    const changed = await events.upsert<EventDocument, EventSettings>(tx, organizer, rows);
    await tx.publish(
      topics.eventChanged,
      changed.map((stored) => eventFact(organizer, stored, defaultSettings.data)),
    );
  },
  commitsRemoval: true,
  async remove(tx, { scope: { organizer }, keys }) {
    for (const slug of keys) await beginRemoval(tx, { organizer, event: slug });
  },
};
