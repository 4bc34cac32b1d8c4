import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { quotaRecord } from "@tessera/resources/records/quota";
import type { TypeOf } from "@tessera/schema/schema";
import { doubtQuotas } from "../domain/doubt-quotas.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

type Quota = TypeOf<typeof quotaRecord>;

/** A quota: the capacity of some products. */
export const quota: RecordKind<Reading<Quota>> = {
  ...catalogueKind({
    table: "quota",
    schema: quotaRecord,
    read: compileReader(quotaRecord),
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
  bring: () => ({}),
  doubt: ({ values, known }) => doubtQuotas(values, known),
};
