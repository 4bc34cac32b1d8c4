import { compileReader, type Reading } from "@tessera/records/read";
import { lineOrNull, namesOrNone } from "@tessera/records/schema-parts";
import { any, boolean, decimal, id, object } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

const schema = object(
  {
    id: id(),
    name: namesOrNone(),
    internal_name: lineOrNull(),
    rate: decimal({ default: "0.00", digits: 10 }),
    code: lineOrNull(190),
    price_includes_tax: boolean({ default: true }),
    default: boolean({ default: false }),
    eu_reverse_charge: boolean({ default: false }),
    home_country: lineOrNull(2),
    keep_gross_if_rate_changes: boolean({ default: false }),
    custom_rules: any({ default: null }),
  },
  { required: ["id"] },
);

/** A tax rule, which is as its document. */
export type TaxRule = TypeOf<typeof schema>;

/** A tax rule: the rate of what it is set for. */
export const taxRule: RecordKind<Reading<TaxRule>> = catalogueKind({
  table: "tax_rule",
  schema,
  read: compileReader(schema),
});
