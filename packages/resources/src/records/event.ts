import {
  arrayOf,
  boolean,
  field,
  instant,
  integer,
  mapOf,
  needed,
  object,
  orPlain,
  slug,
  text,
} from "@tessera/schema/build";
import type { Shown } from "@tessera/schema/fields";
import type { TypeOf } from "@tessera/schema/schema";
import {
  degreesOrNull,
  freeMap,
  idOrNull,
  instantOrNull,
  keyNames,
  lineOrNull,
  names,
  namesOrNull,
  soldThrough,
  storableText,
} from "./parts.ts";

export const eventRecord = object(
  {
    slug: field(slug(), "Its short name, as `event` of the record has it.", "sampleconf"),
    name: field(names(), "Its name, by language.", { en: "Sample Conference", de: "Beispielkonferenz" }),
    live: field(boolean({ default: false }), "Its shop is open."),
    testmode: field(boolean({ default: false }), "Its shop takes orders for tests."),
    currency: field(text({ default: "EUR", minLength: 3, maxLength: 3 }), "The currency of its prices.", "EUR"),
    date_from: field(instant(), "When it begins; of a series, of its first date."),
    date_to: field(instantOrNull(), "When it ends."),
    date_admission: field(instantOrNull(), "When the doors open."),
    is_public: field(boolean({ default: true }), "It is shown in public lists."),
    presale_start: field(instantOrNull(), "When tickets begin to be sold; null: at once."),
    presale_end: field(instantOrNull(), "When tickets are sold no more; null: when it has ended."),
    location: field(namesOrNull(), "Where it is, by language.", { en: "Heidelberg, Germany" }),
    geo_lat: field(degreesOrNull(90), "Latitude in degrees.", 49.41),
    geo_lon: field(degreesOrNull(180), "Longitude in degrees.", 8.71),
    has_subevents: field(needed(boolean({ default: false })), "Whether it is a series. It stays what it was at first."),
    meta_data: field(freeMap(text({ trim: false, maxLength: 10_000 })), "Values of the shop's own, by name.", {
      track: "main",
    }),
    seating_plan: field(idOrNull(), "The id of its seating plan in the shop."),
    plugins: field(
      arrayOf(text({ maxLength: 190 }), { default: [], maxItems: 1000 }),
      "Names of plugins of the shop. They have no effect here.",
      [],
    ),
    seat_category_mapping: field(
      freeMap(idOrNull()),
      "The item of each category of the seating plan; such an item is sold with a seat.",
      { stalls: 1 },
    ),
    timezone: field(lineOrNull(), "IANA name. Null: that of the event's settings, or UTC.", "Europe/Berlin"),
    item_meta_properties: field(
      freeMap(text({ nullable: true, trim: false, maxLength: 10_000 })),
      "Names that `meta_data` of items may have, with their defaults.",
      { day: "all" },
    ),
    valid_keys: field(
      mapOf(arrayOf(text({ maxLength: 10_000 }), { maxItems: 10 }), {
        maxProperties: 100,
        propertyNames: keyNames,
        nullable: true,
        default: {},
      }),
      "Public keys of signed tickets, by how these are signed: under `pretix_sig1` Ed25519 keys as PEM in base64.",
      {
        pretix_sig1: [
          "LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0KTUNvd0JRWURLMlZ3QXlFQUorN25tbUoyY0dGOGV1c21EaGtlMzloTStMalZwZXRlbCtSSlRNNms1MTA9Ci0tLS0tRU5EIFBVQkxJQyBLRVktLS0tLQo=",
        ],
      },
    ),
    ...soldThrough(),
    public_url: field(
      lineOrNull(2000),
      "The address of its shop.",
      "https://tickets.example.org/bigevents/sampleconf/",
    ),
  },
  { required: ["slug", "date_from"] },
);

/** An event as its document has it: instants are texts. */
export type EventDocument = Shown<typeof eventRecord.properties>;

/** A text per language; a missing one may be sent as null or as an empty text. */
const infoText = orPlain(names(), ["string", "null"], { ...storableText, maxLength: 10_000, default: null });

export const eventSettingsRecord = object({
  locale: field(text({ default: "en", blank: false, maxLength: 50 }), "Its main language.", "en"),
  locales: field(
    arrayOf(text({ blank: false, maxLength: 50 }), { default: ["en"], maxItems: 200 }),
    "The languages of its shop.",
    ["en", "de"],
  ),
  region: field(lineOrNull(50), "The country that dates and numbers are written for.", "DE"),
  timezone: field(lineOrNull(), "IANA name, where the event names none. Null: UTC.", "Europe/Berlin"),
  ticket_download: field(boolean({ default: false }), "Buyers may download tickets."),
  ticket_download_date: field(
    lineOrNull(),
    "Since when: a time, or one relative to a date of the event.",
    "2027-06-01T09:00:00Z",
  ),
  ticket_download_addons: field(boolean({ default: false }), "Add-ons have tickets of their own."),
  ticket_download_nonadm: field(boolean({ default: true }), "Items that admit to nothing have tickets, too."),
  ticket_download_pending: field(boolean({ default: false }), "Orders that are not paid yet have tickets, too."),
  ticketoutput_pdf__enabled: field(boolean({ default: true }), "Tickets are made as PDF."),
  ticket_secret_length: field(
    integer({ default: 32, minimum: 12, maximum: 64 }),
    "Characters of secrets that are made here.",
    32,
  ),
  ticket_secret_generator: field(
    text({ default: "random", blank: false, maxLength: 50 }),
    "How the shop makes secrets.",
    "random",
  ),
  name_scheme: field(
    text({ default: "full", blank: false, maxLength: 50 }),
    "The parts that names of persons have, as an identifier of the shop.",
    "given_family",
  ),
  reusable_media_usage_enforced: field(
    boolean({ default: false }),
    "A ticket that was exchanged for a reusable medium admits no more by its own code.",
  ),
  show_date_to: field(boolean({ default: true }), "Dates are shown with their end."),
  show_times: field(boolean({ default: true }), "Dates are shown with their time."),
  organizer_info_text: field(infoText, "Text about the organizer, by language, for tickets.", {
    en: "Big Events Ltd, Heidelberg",
  }),
  event_info_text: field(infoText, "Text about the event, by language, for tickets.", { en: "Bring your passport." }),
});

export type EventSettings = TypeOf<typeof eventSettingsRecord>;
