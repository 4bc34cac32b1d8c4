import type { Tx } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { freeMap, idOrNull, instantOrNull, lineOrNull, names, namesOrNull } from "@tessera/records/schema-parts";
import { refuseEach, refuseTogether } from "@tessera/records/validate";
import { arrayOf, boolean, choice, decimal, id, instant, integer, object, text } from "@tessera/schema/build";
import type { Shown } from "@tessera/schema/fields";
import type { TypeOf } from "@tessera/schema/schema";
import { refuseItems } from "../domain/refuse-items.ts";
import { findUsers } from "../store/usage.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind, Run } from "./kind.ts";

const priceOrNull = () => decimal({ nullable: true, default: null });

/** What items and their variations have in common. */
const offer = () => ({
  active: boolean({ default: true }),
  description: namesOrNull(),
  position: integer({ default: 0 }),
  checkin_attention: boolean({ default: false }),
  checkin_text: lineOrNull(10_000),
  require_approval: boolean({ default: false }),
  original_price: priceOrNull(),
  available_from: instantOrNull(),
  available_until: instantOrNull(),
  hide_without_voucher: boolean({ default: false }),
  all_sales_channels: boolean({ default: true }),
  limit_sales_channels: arrayOf(text({ maxLength: 190 }), { default: [], maxItems: 1000 }),
  free_price_suggestion: priceOrNull(),
  require_membership: boolean({ default: false }),
  meta_data: freeMap(text({ trim: false, maxLength: 10_000 })),
});

const variation = object(
  { id: id(), value: names(), default_price: priceOrNull(), price: priceOrNull(), ...offer() },
  { required: ["id", "value"] },
);

const addon = object(
  {
    addon_category: id(),
    min_count: integer({ default: 0, minimum: 0 }),
    max_count: integer({ default: 1, minimum: 0 }),
    position: integer({ default: 0 }),
    price_included: boolean({ default: false }),
    multi_allowed: boolean({ default: false }),
  },
  { required: ["addon_category"] },
);

const bundle = object(
  {
    bundled_item: id(),
    bundled_variation: idOrNull(),
    count: integer({ default: 1, minimum: 1 }),
    designated_price: decimal({ nullable: true, default: "0.00" }),
  },
  { required: ["bundled_item"] },
);

const schema = object(
  {
    id: id(),
    name: names(),
    internal_name: lineOrNull(),
    default_price: decimal({ default: "0.00" }),
    free_price: boolean({ default: false }),
    tax_rate: decimal({ default: "0.00" }),
    tax_rule: idOrNull(),
    admission: boolean({ default: false }),
    personalized: boolean({ default: false }),
    category: idOrNull(),
    picture: lineOrNull(2000),
    require_voucher: boolean({ default: false }),
    allow_cancel: boolean({ default: true }),
    min_per_order: integer({ nullable: true, default: null, minimum: 0 }),
    max_per_order: integer({ nullable: true, default: null, minimum: 0 }),
    require_bundling: boolean({ default: false }),
    generate_tickets: {
      ...boolean({ nullable: true, default: null }),
      description: "Forces tickets on or off; null: the event's settings decide.",
    },
    allow_waitinglist: boolean({ default: true }),
    issue_giftcard: boolean({ default: false }),
    show_quota_left: boolean({ nullable: true, default: null }),
    hidden_if_available: idOrNull(),
    hidden_if_item_available: idOrNull(),
    validity_mode: choice(["fixed", "dynamic"], { nullable: true, default: null }),
    validity_fixed_from: instant({ nullable: true, default: null }),
    validity_fixed_until: instant({ nullable: true, default: null }),
    validity_dynamic_duration_minutes: integer({ nullable: true, default: null }),
    validity_dynamic_duration_hours: integer({ nullable: true, default: null }),
    validity_dynamic_duration_days: integer({ nullable: true, default: null }),
    validity_dynamic_duration_months: integer({ nullable: true, default: null }),
    validity_dynamic_start_choice: boolean({ default: false }),
    validity_dynamic_start_choice_day_limit: integer({ nullable: true, default: null }),
    media_policy: lineOrNull(190),
    media_type: lineOrNull(190),
    ...offer(),
    has_variations: boolean({ default: false, readOnly: true, description: "Follows from `variations`." }),
    variations: arrayOf(variation, { default: [], maxItems: 10_000 }),
    addons: arrayOf(addon, { default: [], maxItems: 1000 }),
    bundles: arrayOf(bundle, { default: [], maxItems: 1000 }),
  },
  { required: ["id", "name"] },
);

type Item = TypeOf<typeof schema>;

/** An item as its document has it: instants are texts. */
export type ItemDocument = Shown<typeof schema.properties>;

/** A product. An item either always has variations or never; those that are sold stay. */
export const item: RecordKind<Reading<Item>> = {
  ...catalogueKind({
    table: "item",
    schema,
    read: compileReader(schema, {
      complete: (data) => ({ ...data, has_variations: data.variations.length > 0 }),
    }),
    fact: {
      topic: topics.itemChanged,
      of: ({ scope, data, document, revision }) => ({
        ...scope,
        id: data.id,
        revision,
        name: data.name,
        internalName: data.internal_name ?? undefined,
        admission: data.admission,
        category: data.category ?? undefined,
        position: data.position,
        checkinAttention: data.checkin_attention,
        checkinText: data.checkin_text ?? undefined,
        generateTickets: data.generate_tickets ?? undefined,
        variations: data.variations.map((each) => ({
          id: each.id,
          value: each.value,
          position: each.position,
          checkinAttention: each.checkin_attention,
          checkinText: each.checkin_text ?? undefined,
        })),
        document: Buffer.from(document),
      }),
    },
  }),
  *idsOf({ data }) {
    yield ["item_id_seq", data.id];
    for (const { id } of data.variations) yield ["variation_id_seq", id];
  },
  mention({ data }, mentioned) {
    mentioned.everyItem = true;
    if (data.category !== null) mentioned.categories.add(data.category);
    if (data.tax_rule !== null) mentioned.taxRules.add(data.tax_rule);
    for (const { addon_category } of data.addons) mentioned.categories.add(addon_category);
  },
  async refuse(tx, run) {
    const lost = await refuseLostVariations(tx, run);
    const complete = run.values.filter((value) => !lost.has(value));
    // Items may bundle items of the same run.
    return new Map([...lost, ...refuseTogether(complete, (left) => refuseItems(left, run.known))]);
  },
};

/** A variation that positions, quotas or bundles refer to cannot vanish from its item. */
async function refuseLostVariations(
  tx: Tx,
  { scope, values, known }: Run<Reading<Item>>,
): Promise<Map<Reading<Item>, Record<string, string[]>>> {
  const lost = new Map<Reading<Item>, string[]>();
  for (const value of values) {
    const kept = new Set(value.data.variations.map(({ id }) => id));
    const missing = [...(known.items.get(value.data.id) ?? [])].filter((id) => !kept.has(id));
    if (missing.length > 0) lost.set(value, missing.map(String));
  }
  if (lost.size === 0) return new Map();
  const users = await findUsers(tx, "variation", { scope, keys: [...lost.values()].flat() });
  return refuseEach(lost.keys(), (value, addError) => {
    for (const id of lost.get(value) ?? []) {
      const by = users.get(id);
      if (by !== undefined) addError("variations", `${by} refer to variation ${id}, which is missing here`);
    }
  });
}
