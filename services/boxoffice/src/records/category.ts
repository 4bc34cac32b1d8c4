import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { categoryRecord } from "@tessera/resources/records/category";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

export type Category = TypeOf<typeof categoryRecord>;

export const category: RecordKind<Reading<Category>> = catalogueKind({
  table: "category",
  schema: categoryRecord,
  read: compileReader(categoryRecord),
  fact: {
    topic: topics.categoryChanged,
    of: ({ scope, data, revision }) => ({
      ...scope,
      id: data.id,
      revision,
      position: data.position,
      isAddon: data.is_addon,
    }),
  },
});
