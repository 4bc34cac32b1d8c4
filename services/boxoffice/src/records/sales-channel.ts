import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { namesOrNone, verbatim } from "@tessera/records/schema-parts";
import { integer, object, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

const schema = object(
  {
    identifier: verbatim(190),
    label: namesOrNone(),
    type: text({ default: "api", maxLength: 190 }),
    position: integer({ default: 0 }),
  },
  { required: ["identifier"] },
);

type SalesChannel = TypeOf<typeof schema>;

/** A way in which tickets are sold. `web` exists without a record. */
export const salesChannel: RecordKind<Reading<SalesChannel>> = catalogueKind({
  table: "sales_channel",
  schema,
  read: compileReader(schema),
  fact: {
    topic: topics.salesChannelChanged,
    of: ({ scope: { organizer }, data: { identifier }, revision }) => ({ organizer, identifier, revision }),
  },
});
