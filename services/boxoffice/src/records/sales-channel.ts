import { integer, object, text } from "@tessera/kit/schema-build";
import { catalogueKind } from "./catalogue-kind.ts";
import { type RecordKind, refuseUsed } from "./kind.ts";
import { compileReader, type Reading } from "./read.ts";
import { names, verbatim } from "./schema-parts.ts";

interface SalesChannel {
  identifier: string;
}

const schema = object(
  {
    identifier: verbatim(190),
    label: names({ default: {} }),
    type: text({ default: "api", maxLength: 190 }),
    position: integer({ default: 0 }),
  },
  { required: ["identifier"] },
);

/** A way in which tickets are sold. `web` exists without a record. */
export const salesChannel: RecordKind<Reading<SalesChannel>> = {
  ...catalogueKind<SalesChannel>({
    table: "sales_channel",
    belongsTo: "organizer",
    schema,
    key: "identifier",
    read: compileReader(schema),
  }),
  refuseRemoval: (tx, removal) => refuseUsed(tx, "sales_channel", removal),
};
