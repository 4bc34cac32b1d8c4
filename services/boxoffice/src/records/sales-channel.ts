import type { TypeOf } from "@tessera/kit/schema";
import { integer, object, text } from "@tessera/kit/schema-build";
import { catalogueKind } from "./catalogue-kind.ts";
import { type RecordKind, refuseUsed } from "./kind.ts";
import { compileReader, type Reading } from "./read.ts";
import { namesOrNone, verbatim } from "./schema-parts.ts";

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
export const salesChannel: RecordKind<Reading<SalesChannel>> = {
  ...catalogueKind({
    table: "sales_channel",
    belongsTo: "organizer",
    schema,
    key: "identifier",
    read: compileReader(schema),
  }),
  refuseRemoval: (tx, removal) => refuseUsed(tx, "sales_channel", removal),
};
