import { boolean, id, integer, object } from "@tessera/kit/schema-build";
import type { CategoryChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { topics } from "@tessera/protos/topics";
import { catalogueKind } from "./catalogue-kind.ts";
import { type RecordKind, refuseUsed } from "./kind.ts";
import { compileReader, type Reading } from "./read.ts";
import { lineOrNull, names, namesOrNull } from "./schema-parts.ts";

interface Category {
  id: number;
  position: number;
}

const schema = object(
  {
    id: id(),
    name: names({ default: {} }),
    internal_name: lineOrNull(),
    description: namesOrNull(),
    position: integer({ default: 0 }),
    is_addon: boolean({ default: false }),
  },
  { required: ["id"] },
);

/** A category of products. */
export const category: RecordKind<Reading<Category>> = {
  ...catalogueKind<Category, CategoryChanged>({
    table: "category",
    belongsTo: "event",
    schema,
    key: "id",
    read: compileReader(schema),
    fact: {
      topic: topics.categoryChanged,
      of: ({ scope, data, revision }) => ({ ...scope, id: data.id, revision, position: data.position }),
    },
  }),
  idsOf: ({ data }) => [["category_id_seq", data.id]],
  refuseRemoval: (tx, removal) => refuseUsed(tx, "category", removal),
};
