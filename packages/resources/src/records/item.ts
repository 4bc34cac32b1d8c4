import { arrayOf, boolean, choice, decimal, field, id, instant, integer, object, text } from "@tessera/schema/build";
import type { Shown } from "@tessera/schema/fields";
import { freeMap, idOrNull, instantOrNull, lineOrNull, names, namesOrNull, soldThrough, taxRate } from "./parts.ts";

const priceOrNull = () => decimal({ nullable: true, default: null });
const countOrNull = () => integer({ nullable: true, default: null });

/** What items and their variations have in common. */
const offer = () => ({
  active: field(boolean({ default: true }), "It is sold."),
  description: field(namesOrNull(), "Text for buyers, by language.", { en: "Admits to all days" }),
  position: field(integer({ default: 0 }), "Its place in lists.", 1),
  checkin_attention: field(boolean({ default: false }), "Scanners ask for special attention."),
  checkin_text: field(lineOrNull(10_000), "Text that scanners show.", "Check the student card"),
  require_approval: field(boolean({ default: false }), "An order of it needs approval before it is paid."),
  original_price: field(priceOrNull(), "A former price, shown crossed out.", "29.00"),
  available_from: field(instantOrNull(), "It is sold from then on."),
  available_until: field(instantOrNull(), "It is sold until then."),
  hide_without_voucher: field(boolean({ default: false }), "Shown only to buyers with a voucher for it."),
  ...soldThrough(),
  free_price_suggestion: field(priceOrNull(), "What is suggested where buyers choose the price.", "30.00"),
  require_membership: field(boolean({ default: false }), "Sold only to members."),
  meta_data: field(freeMap(text({ trim: false, maxLength: 10_000 })), "Values of the shop's own, by name.", {
    day: "all",
  }),
});

const variation = object(
  {
    id: field(id(), "Its id, unique in the event.", 21),
    value: field(names(), "Its name, by language.", { en: "Student" }),
    default_price: field(priceOrNull(), "Its price; null: that of the item.", "12.00"),
    price: field(priceOrNull(), "The same, as the shop shows it. It has no effect.", "12.00"),
    ...offer(),
  },
  { required: ["id"] },
);

const addon = object(
  {
    addon_category: field(id(), "The category of the add-ons.", 2),
    min_count: field(integer({ default: 0, minimum: 0 }), "How many a buyer must choose.", 0),
    max_count: field(integer({ default: 1, minimum: 0 }), "How many a buyer may choose.", 1),
    position: field(integer({ default: 0 }), "Its place in lists.", 1),
    price_included: field(boolean({ default: false }), "The add-ons cost nothing more."),
    multi_allowed: field(boolean({ default: false }), "One add-on may be chosen several times."),
  },
  { required: ["addon_category"] },
);

const bundle = object(
  {
    bundled_item: field(id(), "The item that comes with it.", 2),
    bundled_variation: field(idOrNull(), "Its variation.", 21),
    count: field(integer({ default: 1, minimum: 1 }), "How many of them.", 1),
    designated_price: field(
      decimal({ nullable: true, default: "0.00" }),
      "The part of the price that counts for them.",
      "5.00",
    ),
  },
  { required: ["bundled_item"] },
);

const dynamic = (unit: string) => field(countOrNull(), `How long a ticket is valid where \`dynamic\`: ${unit}.`, 1);

export const itemRecord = object(
  {
    id: field(id(), "Its id.", 1),
    name: field(names(), "Its name, by language.", { en: "Standard ticket" }),
    internal_name: field(lineOrNull(), "Its name for staff; null: `name`.", "Standard"),
    default_price: field(decimal({ default: "0.00" }), "Its price.", "23.00"),
    free_price: field(boolean({ default: false }), "Buyers may pay more."),
    tax_rate: field(taxRate(), "The rate of `tax_rule`, as the shop shows it. It has no effect.", "19.00"),
    tax_rule: field(idOrNull(), "Its tax rule."),
    admission: field(boolean({ default: false }), "It admits a person."),
    personalized: field(boolean({ default: false }), "It is sold to a person of a name."),
    category: field(idOrNull(), "Its category."),
    picture: field(lineOrNull(2000), "The address of its picture.", "https://tickets.example.org/ticket.png"),
    require_voucher: field(boolean({ default: false }), "Sold only with a voucher for it."),
    allow_cancel: field(boolean({ default: true }), "Buyers may cancel it."),
    min_per_order: field(
      integer({ nullable: true, default: null, minimum: 0 }),
      "How many of it an order needs, if any.",
      1,
    ),
    max_per_order: field(integer({ nullable: true, default: null, minimum: 0 }), "How many an order may have.", 10),
    require_bundling: field(boolean({ default: false }), "Sold only within a bundle."),
    generate_tickets: field(
      boolean({ nullable: true, default: null }),
      "Forces tickets on or off; null: the event's settings decide.",
    ),
    allow_waitinglist: field(boolean({ default: true }), "Has a waiting list when it is sold out."),
    issue_giftcard: field(boolean({ default: false }), "It is a gift card."),
    show_quota_left: field(
      boolean({ nullable: true, default: null }),
      "Buyers see how many are left; null: the shop decides.",
    ),
    hidden_if_available: field(idOrNull(), "Hidden while this quota has some left."),
    hidden_if_item_available: field(idOrNull(), "Hidden while this item is sold.", 2),
    validity_mode: field(
      choice(["fixed", "dynamic"], { nullable: true, default: null }),
      "When a ticket is valid: between two times, or from its sale or a chosen start on; null: always.",
    ),
    validity_fixed_from: field(instant({ nullable: true, default: null }), "Where `fixed`: valid from then on."),
    validity_fixed_until: field(instant({ nullable: true, default: null }), "Where `fixed`: valid until then."),
    validity_dynamic_duration_minutes: dynamic("minutes"),
    validity_dynamic_duration_hours: dynamic("hours"),
    validity_dynamic_duration_days: dynamic("days"),
    validity_dynamic_duration_months: dynamic("months"),
    validity_dynamic_start_choice: field(boolean({ default: false }), "Buyers choose when its validity begins."),
    validity_dynamic_start_choice_day_limit: field(countOrNull(), "At most so many days ahead.", 30),
    media_policy: field(lineOrNull(190), "Whether it is sold on a reusable medium, as the shop names it.", "new"),
    media_type: field(lineOrNull(190), "The kind of that medium.", "barcode"),
    ...offer(),
    has_variations: field(boolean({ default: false, readOnly: true }), "Follows from `variations`; need not be sent."),
    variations: field(
      arrayOf(variation, { default: [], maxItems: 10_000 }),
      "Its variations. An item either always has some or never; those that are sold stay.",
    ),
    addons: field(arrayOf(addon, { default: [], maxItems: 1000 }), "The add-ons that can be bought with it."),
    bundles: field(arrayOf(bundle, { default: [], maxItems: 1000 }), "What comes with it."),
  },
  { required: ["id"] },
);

/** An item as its document has it: instants are texts. */
export type ItemDocument = Shown<typeof itemRecord.properties>;
