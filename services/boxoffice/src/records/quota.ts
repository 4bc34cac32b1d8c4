import type { TypeOf } from "@tessera/kit/schema";
import { arrayOf, boolean, id, integer, object, text } from "@tessera/kit/schema-build";
import type { Known } from "../store/references.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import { type Complain, notKnown, ofElement, type RecordKind, refuseEach } from "./kind.ts";
import { compileReader, type Reading } from "./read.ts";
import { idOrNull } from "./schema-parts.ts";

const schema = object(
  {
    id: id(),
    name: text({ default: "", maxLength: 200 }),
    size: integer({ nullable: true, default: null, minimum: 0, description: "Null: unlimited." }),
    items: arrayOf(id(), { default: [], maxItems: 10_000 }),
    variations: arrayOf(id(), { default: [], maxItems: 10_000 }),
    subevent: idOrNull(),
    closed: boolean({ default: false }),
    close_when_sold_out: boolean({ default: false }),
    release_after_exit: boolean({ default: false }),
    ignore_for_event_availability: boolean({ default: false }),
  },
  { required: ["id"] },
);

type Quota = TypeOf<typeof schema>;

/** A quota: how much of some products there is. */
export const quota: RecordKind<Reading<Quota>> = {
  ...catalogueKind({ table: "quota", belongsTo: "event", schema, key: "id", read: compileReader(schema) }),
  idsOf: ({ data }) => [["quota_id_seq", data.id]],
  mention({ data }, mentioned) {
    mentioned.everyItem ||= data.variations.length > 0;
    for (const item of data.items) mentioned.items.add(item);
    if (data.subevent !== null) mentioned.subevents.add(data.subevent);
  },
  async refuse(_tx, { values, known }) {
    const itemsOf = new Map([...known.items].flatMap(([item, ofItem]) => [...ofItem].map((id) => [id, item] as const)));
    return refuseEach(values, ({ data }, complain) => {
      examineProducts(data, { known, itemsOf }, complain);
      if (data.subevent === null && known.series === true)
        complain("subevent", "A quota of a series belongs to a date.");
      if (data.subevent !== null && !known.subevents.has(data.subevent)) {
        complain("subevent", notKnown(`subevent ${data.subevent}`));
      }
    });
  },
};

/** A position with a variation is matched by it alone, so an item and its variations are listed together. */
function examineProducts(
  { items, variations }: Quota,
  { known, itemsOf }: { readonly known: Known; readonly itemsOf: ReadonlyMap<number, number> },
  complain: Complain,
): void {
  const listed = new Set(items);
  const accompanied = new Set(variations.map((variation) => itemsOf.get(variation)));
  for (const [index, item] of items.entries()) {
    const ofItem = known.items.get(item);
    if (ofItem === undefined) complain("items", ofElement(index, notKnown(`item ${item}`)));
    else if (ofItem.size > 0 && !accompanied.has(item)) {
      complain("items", ofElement(index, `item ${item} has variations; list those that the quota counts`));
    }
  }
  for (const [index, variation] of variations.entries()) {
    const item = itemsOf.get(variation);
    if (item === undefined) complain("variations", ofElement(index, notKnown(`variation ${variation}`)));
    else if (!listed.has(item)) {
      complain("variations", ofElement(index, `variation ${variation} belongs to item ${item}, which is not listed`));
    }
  }
}
