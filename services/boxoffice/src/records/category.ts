import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { lineOrNull, namesOrNone, namesOrNull } from "@tessera/records/schema-parts";
import { boolean, id, integer, object } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

const schema = object(
  {
    id: id(),
    name: namesOrNone(),
    internal_name: lineOrNull(),
    description: namesOrNull(),
    position: integer({ default: 0 }),
    is_addon: boolean({ default: false }),
  },
  { required: ["id"] },
);

type Category = TypeOf<typeof schema>;

/** A category of products. */
export const category: RecordKind<Reading<Category>> = catalogueKind({
  table: "category",
  schema,
  read: compileReader(schema),
  fact: {
    topic: topics.categoryChanged,
    of: ({ scope, data, revision }) => ({ ...scope, id: data.id, revision, position: data.position, isAddon: data.is_addon }),
  },
});
