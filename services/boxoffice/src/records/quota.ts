import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { idOrNull } from "@tessera/records/schema-parts";
import { arrayOf, boolean, id, integer, object, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { refuseQuotas } from "../domain/refuse-quotas.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

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
  ...catalogueKind({
    table: "quota",
    schema,
    read: compileReader(schema),
    fact: {
      topic: topics.quotaChanged,
      of: ({ scope, data, revision }) => ({
        ...scope,
        id: data.id,
        revision,
        items: [...data.items],
        variations: [...data.variations],
        subevent: data.subevent ?? undefined,
      }),
    },
  }),
  mention({ data }, mentioned) {
    mentioned.everyItem ||= data.variations.length > 0;
    for (const item of data.items) mentioned.items.add(item);
    if (data.subevent !== null) mentioned.subevents.add(data.subevent);
  },
  async refuse(_tx, { values, known }) {
    return refuseQuotas(values, known);
  },
};
