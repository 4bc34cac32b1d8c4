import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { refuseEach } from "@tessera/records/validate";
import { subeventRecord } from "@tessera/resources/records/subevent";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

type Subevent = TypeOf<typeof subeventRecord>;

/** A date of a series. Its price overrides may name products that come later, so they are not checked. */
export const subevent: RecordKind<Reading<Subevent>> = {
  ...catalogueKind({
    table: "subevent",
    schema: subeventRecord,
    read: compileReader(subeventRecord),
    fact: {
      topic: topics.subeventChanged,
      of: ({ scope, data, document, revision }) => ({
        ...scope,
        id: data.id,
        revision,
        name: data.name,
        active: data.active,
        dateFrom: data.date_from,
        dateTo: data.date_to ?? undefined,
        dateAdmission: data.date_admission ?? undefined,
        document: Buffer.from(document),
      }),
    },
  }),
  async refuse(_tx, { values, known }) {
    return refuseEach(values, (_value, addError) => {
      if (known.series !== true) addError("non_field_errors", "The event is no series and has no dates of its own.");
    });
  },
};
