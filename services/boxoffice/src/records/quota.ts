import { arrayOf, boolean, id, integer, object, text } from "@tessera/kit/schema-build";
import { catalogueKind } from "./catalogue-kind.ts";
import { notKnown, ofElement, type RecordKind, refuseEach } from "./kind.ts";
import { compileReader, type Reading } from "./read.ts";
import { idOrNull } from "./schema-parts.ts";

interface Quota {
  id: number;
  items: number[];
  variations: number[];
  subevent: number | null;
}

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

/** A quota: how much of some products there is. */
export const quota: RecordKind<Reading<Quota>> = {
  ...catalogueKind<Quota>({ table: "quota", belongsTo: "event", schema, key: "id", read: compileReader(schema) }),
  idsOf: ({ data }) => [["quota_id_seq", data.id]],
  mention({ data }, mentioned) {
    mentioned.everyItem ||= data.variations.length > 0;
    for (const item of data.items) mentioned.items.add(item);
    if (data.subevent !== null) mentioned.subevents.add(data.subevent);
  },
  async refuse(_tx, { values, known }) {
    const variations = new Set([...known.items.values()].flatMap((ofItem) => [...ofItem]));
    return refuseEach(values, ({ data }, complain) => {
      for (const [index, item] of data.items.entries()) {
        if (!known.items.has(item)) complain("items", ofElement(index, notKnown(`item ${item}`)));
      }
      for (const [index, variation] of data.variations.entries()) {
        if (!variations.has(variation)) complain("variations", ofElement(index, notKnown(`variation ${variation}`)));
      }
      if (data.subevent === null && known.series === true)
        complain("subevent", "A quota of a series belongs to a date.");
      if (data.subevent !== null && !known.subevents.has(data.subevent)) {
        complain("subevent", notKnown(`subevent ${data.subevent}`));
      }
    });
  },
};
