import type { Tx } from "@tessera/kit/pg/database";
import type { TypeOf } from "@tessera/kit/schema";
import { arrayOf, boolean, instant, object, slug, text } from "@tessera/kit/schema-build";
import { entityKey, topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import {
  degreesOrNull,
  freeMap,
  idOrNull,
  instantOrNull,
  lineOrNull,
  names,
  namesOrNull,
} from "@tessera/records/schema-parts";
import { refuseEach } from "@tessera/records/validate";
import type { Scope } from "../domain/scope.ts";
import * as catalogue from "../store/catalogue.ts";
import * as events from "../store/events.ts";
import * as orders from "../store/orders.ts";
import * as positions from "../store/positions.ts";
import { type EventDocument, type EventSettings, eventFact } from "./event-fact.ts";
import { defaultSettings, timeZoneRule } from "./event-settings.ts";
import type { RecordKind } from "./kind.ts";

const schema = object(
  {
    slug: slug(),
    name: names(),
    live: boolean({ default: false }),
    testmode: boolean({ default: false }),
    currency: text({ default: "EUR", minLength: 3, maxLength: 3 }),
    date_from: instant(),
    date_to: instantOrNull(),
    date_admission: instantOrNull(),
    is_public: boolean({ default: true }),
    presale_start: instantOrNull(),
    presale_end: instantOrNull(),
    location: namesOrNull(),
    geo_lat: degreesOrNull(90),
    geo_lon: degreesOrNull(180),
    has_subevents: boolean({ default: false, description: "Whether it is a series. It stays what it was at first." }),
    meta_data: freeMap(text({ trim: false, maxLength: 10_000 })),
    seating_plan: idOrNull(),
    plugins: arrayOf(text({ maxLength: 190 }), { default: [], maxItems: 1000 }),
    seat_category_mapping: freeMap(idOrNull()),
    timezone: { ...lineOrNull(), description: "IANA name. Null: that of the event's settings, or UTC." },
    item_meta_properties: freeMap(text({ nullable: true, trim: false, maxLength: 10_000 })),
    all_sales_channels: boolean({ default: true }),
    limit_sales_channels: arrayOf(text({ maxLength: 190 }), { default: [], maxItems: 1000 }),
    public_url: lineOrNull(2000),
  },
  { required: ["slug", "name", "date_from"] },
);

type Event = TypeOf<typeof schema>;

/** An event. Removing it takes everything along that lives in it. */
export const event: RecordKind<Reading<Event>> = {
  name: "event",
  schema,
  read: compileReader(schema, { rules: { timezone: timeZoneRule } }),
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

/** What lives in an event besides its orders, and the topics that tell of it. */
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
  await tx.retract(topics.positionChanged, (await positions.removeAll(tx, scope)).map(toKey));
  await orders.removeAll(tx, scope);
  for (const { table, topic } of contents) {
    const removed = await catalogue.removeAll(tx, table, scope);
    if (topic !== undefined) await tx.retract(topic, removed.map(toKey));
  }
  if (await events.remove(tx, scope)) await tx.retract(topics.eventChanged, [toKey("")]);
}
