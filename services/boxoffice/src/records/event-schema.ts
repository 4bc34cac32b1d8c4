import {
  degreesOrNull,
  freeMap,
  idOrNull,
  instantOrNull,
  lineOrNull,
  names,
  namesOrNull,
  storableText,
} from "@tessera/records/schema-parts";
import { arrayOf, boolean, instant, integer, object, orPlain, slug, text } from "@tessera/schema/build";
import type { Shown } from "@tessera/schema/fields";
import type { TypeOf } from "@tessera/schema/schema";

export const eventSchema = object(
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

/** An event as its document has it: instants are texts. */
export type EventDocument = Shown<typeof eventSchema.properties>;

/** A text per language; a missing one may be sent as null or as an empty text. */
const infoText = orPlain(names(), ["string", "null"], { ...storableText, maxLength: 10_000, default: null });

export const settingsSchema = object({
  locale: text({ default: "en", blank: false, maxLength: 50 }),
  locales: arrayOf(text({ blank: false, maxLength: 50 }), { default: ["en"], maxItems: 200 }),
  region: lineOrNull(50),
  timezone: lineOrNull(),
  ticket_download: boolean({ default: false }),
  ticket_download_date: lineOrNull(),
  ticket_download_addons: boolean({ default: false }),
  ticket_download_nonadm: boolean({ default: true }),
  ticket_download_pending: boolean({ default: false }),
  ticketoutput_pdf__enabled: boolean({ default: true }),
  ticket_secret_length: integer({ default: 32, minimum: 12, maximum: 64 }),
  ticket_secret_generator: text({ default: "random", blank: false, maxLength: 50 }),
  name_scheme: text({ default: "full", blank: false, maxLength: 50 }),
  show_date_to: boolean({ default: true }),
  show_times: boolean({ default: true }),
  organizer_info_text: infoText,
  event_info_text: infoText,
});

export type EventSettings = TypeOf<typeof settingsSchema>;
