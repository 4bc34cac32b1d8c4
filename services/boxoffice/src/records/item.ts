import type { Tx } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { refuseEach, refuseTogether, toSentence } from "@tessera/records/validate";
import { itemRecord } from "@tessera/resources/records/item";
import type { TypeOf } from "@tessera/schema/schema";
import { refuseItems } from "../domain/refuse-items.ts";
import { findUsers } from "../store/usage.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind, Run } from "./kind.ts";

type Item = TypeOf<typeof itemRecord>;

/** A product. An item either always has variations or never; those that are sold stay. */
export const item: RecordKind<Reading<Item>> = {
  ...catalogueKind({
    table: "item",
    schema: itemRecord,
    read: compileReader(itemRecord, {
      sorted: ["variations"],
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
      if (by !== undefined) addError("variations", toSentence(`${by} refer to variation ${id}, which is missing here`));
    }
  });
}
