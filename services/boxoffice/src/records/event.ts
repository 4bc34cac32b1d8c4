import type { Tx } from "@tessera/kit/pg/database";
import { entityKey, topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { refuseEach } from "@tessera/records/validate";
import type { TypeOf } from "@tessera/schema/schema";
import type { Scope } from "../domain/scope.ts";
import * as catalogue from "../store/catalogue.ts";
import * as events from "../store/events.ts";
import * as orders from "../store/orders.ts";
import * as positions from "../store/positions.ts";
import { eventFact } from "../wire/event-fact.ts";
import { type EventDocument, type EventSettings, eventSchema } from "./event-schema.ts";
import { defaultSettings, timeZoneRule } from "./event-settings.ts";
import type { RecordKind } from "./kind.ts";

type Event = TypeOf<typeof eventSchema>;

/** An event. Removing it deletes everything in it. */
export const event: RecordKind<Reading<Event>> = {
  name: "event",
  schema: eventSchema,
  read: compileReader(eventSchema, { rules: { timezone: timeZoneRule } }),
  keyOf: ({ data }) => data.slug,
  mention: ({ data }, mentioned) => mentioned.events.add(data.slug),
  async refuse(_tx, { values, known }) {
    return refuseEach(values, ({ data }, addError) => {
      const series = known.events.get(data.slug) ?? data.has_subevents;
      if (series !== data.has_subevents) addError("has_subevents", "A series stays one, and no event becomes one.");
    });
  },
  async store(tx, { scope: { organizer }, values }) {
    const rows = values.map(({ data, document }) => ({ slug: data.slug, document }));
    const changed = await events.upsert<EventDocument, EventSettings>(tx, organizer, rows);
    await tx.publish(
      topics.eventChanged,
      changed.map((stored) => eventFact(organizer, stored, defaultSettings.data)),
    );
  },
  async remove(tx, { scope: { organizer }, keys }) {
    for (const slug of keys) await removeWhole(tx, { organizer, event: slug });
  },
};

/** The tables of an event besides its orders, and the topics of their facts. */
const contents: readonly { readonly table: catalogue.CatalogueTable; readonly topic?: { readonly name: string } }[] = [
  { table: "revoked_secret", topic: topics.revokedSecretChanged },
  { table: "blocked_secret", topic: topics.blockedSecretChanged },
  { table: "seat" },
  { table: "question", topic: topics.questionChanged },
  { table: "quota" },
  { table: "item", topic: topics.itemChanged },
  { table: "category", topic: topics.categoryChanged },
  { table: "tax_rule" },
  { table: "subevent", topic: topics.subeventChanged },
];

async function removeWhole(tx: Tx, scope: Scope): Promise<void> {
  const toKey = (id: number | string) => entityKey(scope.organizer, scope.event, id);
  await tx.retract(topics.positionChanged, (await positions.deleteAll(tx, scope)).map(toKey));
  await orders.deleteAll(tx, scope);
  for (const { table, topic } of contents) {
    const removed = await catalogue.deleteAll(tx, table, scope);
    if (topic !== undefined) await tx.retract(topic, removed.map(toKey));
  }
  if (await events.deleteEvent(tx, scope)) await tx.retract(topics.eventChanged, [toKey("")]);
}
