import { arrayOf, boolean, decimal, field, id, instant, object, text } from "@tessera/schema/build";
import type { Shown } from "@tessera/schema/fields";
import { degreesOrNull, freeMap, idOrNull, instantOrNull, names, namesOrNull } from "./parts.ts";

const override = {
  disabled: field(boolean({ default: false }), "Not sold for this date."),
  available_from: field(instantOrNull(), "Sold for this date from then on."),
  available_until: field(instantOrNull(), "Sold for this date until then."),
  price: field(decimal({ nullable: true, default: null }), "The price for this date; null: the usual one.", "19.00"),
};

const itemOverride = object({ item: field(id(), "The item.", 1), ...override }, { required: ["item"] });

const variationOverride = object(
  { variation: field(id(), "The variation.", 1), ...override },
  { required: ["variation"] },
);

export const subeventRecord = object(
  {
    id: field(id(), "Its id.", 1),
    name: field(names(), "Its name, by language.", { en: "Friday" }),
    active: field(boolean({ default: true }), "Tickets of this date are sold."),
    is_public: field(boolean({ default: true }), "It is shown in public lists."),
    date_from: field(instant(), "When it begins."),
    date_to: field(instantOrNull(), "When it ends."),
    date_admission: field(instantOrNull(), "When the doors open."),
    presale_start: field(instantOrNull(), "When its tickets begin to be sold."),
    presale_end: field(instantOrNull(), "When its tickets are sold no more."),
    frontpage_text: field(namesOrNull(), "Text of its page, by language.", { en: "With the band" }),
    location: field(namesOrNull(), "Where it is, by language; null: where the event is.", { en: "Main hall" }),
    geo_lat: field(degreesOrNull(90), "Latitude in degrees.", 49.41),
    geo_lon: field(degreesOrNull(180), "Longitude in degrees.", 8.71),
    item_price_overrides: field(
      arrayOf(itemOverride, { default: [], maxItems: 10_000 }),
      "Items that are sold differently for this date. They need not be known.",
    ),
    variation_price_overrides: field(
      arrayOf(variationOverride, { default: [], maxItems: 10_000 }),
      "The same for variations.",
    ),
    meta_data: field(freeMap(text({ trim: false, maxLength: 10_000 })), "Values of the shop's own, by name.", {
      track: "main",
    }),
    seating_plan: field(idOrNull(), "The id of its seating plan in the shop."),
    seat_category_mapping: field(
      freeMap(idOrNull()),
      "The item of each category of the seating plan; such an item is sold with a seat.",
      { stalls: 1 },
    ),
    last_modified: field(instantOrNull(), "When the shop changed it last."),
  },
  { required: ["id", "date_from"] },
);

/** A date as its document has it: instants are texts. */
export type SubeventDocument = Shown<typeof subeventRecord.properties>;
