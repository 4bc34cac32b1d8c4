import { topics } from "@tessera/protos/topics";
import type { BroughtAs } from "@tessera/records/brought";
import { compileReader, type Reading } from "@tessera/records/read";
import { itemRecord } from "@tessera/resources/records/item";
import type { TypeOf } from "@tessera/schema/schema";
import { doubtItems, refuseItems } from "../domain/refuse-items.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

type Item = TypeOf<typeof itemRecord>;

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
        mediaPolicy: data.media_policy ?? undefined,
        mediaType: data.media_type ?? undefined,
        document: Buffer.from(document),
      }),
    },
  }),
  mention({ data }, mentioned) {
    mentioned.everyItem = true;
    if (data.category !== null) mentioned.categories.add(data.category);
    if (data.tax_rule !== null) mentioned.taxRules.add(data.tax_rule);
    for (const { addon_category } of data.addons) mentioned.categories.add(addon_category);
  },
  bring({ data }): BroughtAs<"item"> {
    const variations = data.variations.map(({ id }) => id);
    return { names: variations, data: { variations } };
  },
  async refuse(_tx, { values, known }) {
    return refuseItems(values, known);
  },
  doubt: ({ values, known }) => doubtItems(values, known),
};
