import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { degreesOrNull, freeMap, idOrNull, instantOrNull, names, namesOrNull } from "@tessera/records/schema-parts";
import { refuseEach } from "@tessera/records/validate";
import { arrayOf, boolean, decimal, id, instant, object, text } from "@tessera/schema/build";
import type { Shown } from "@tessera/schema/fields";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

const override = {
  disabled: boolean({ default: false }),
  available_from: instantOrNull(),
  available_until: instantOrNull(),
  price: decimal({ nullable: true, default: null }),
};

const schema = object(
  {
    id: id(),
    name: names(),
    active: boolean({ default: true }),
    is_public: boolean({ default: true }),
    date_from: instant(),
    date_to: instantOrNull(),
    date_admission: instantOrNull(),
    presale_start: instantOrNull(),
    presale_end: instantOrNull(),
    frontpage_text: namesOrNull(),
    location: namesOrNull(),
    geo_lat: degreesOrNull(90),
    geo_lon: degreesOrNull(180),
    item_price_overrides: arrayOf(object({ item: id(), ...override }, { required: ["item"] }), {
      default: [],
      maxItems: 10_000,
    }),
    variation_price_overrides: arrayOf(object({ variation: id(), ...override }, { required: ["variation"] }), {
      default: [],
      maxItems: 10_000,
    }),
    meta_data: freeMap(text({ trim: false, maxLength: 10_000 })),
    seating_plan: idOrNull(),
    seat_category_mapping: freeMap(idOrNull()),
    last_modified: instantOrNull(),
  },
  { required: ["id", "name", "date_from"] },
);

type Subevent = TypeOf<typeof schema>;

/** A date as its document has it: instants are texts. */
export type SubeventDocument = Shown<typeof schema.properties>;

/** A date of a series. Its price overrides name products that may come after it, so they are taken as they are. */
export const subevent: RecordKind<Reading<Subevent>> = {
  ...catalogueKind({
    table: "subevent",
    schema,
    read: compileReader(schema),
    fact: {
      topic: topics.subeventChanged,
      of: ({ scope, data, document, revision }) => ({
        ...scope,
        id: data.id,
        revision,
        name: data.name,
        active: data.active,
        dateFrom: data.date_from,
        dateTo: data.date_to ?? undefined,
        dateAdmission: data.date_admission ?? undefined,
        document: Buffer.from(document),
      }),
    },
  }),
  async refuse(_tx, { values, known }) {
    return refuseEach(values, (_value, addError) => {
      if (known.series !== true) addError("non_field_errors", "the event is no series and has no dates of its own");
    });
  },
};
