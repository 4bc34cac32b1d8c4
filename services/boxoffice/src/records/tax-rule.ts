import { compileReader, type Reading } from "@tessera/records/read";
import { taxRuleRecord } from "@tessera/resources/records/tax-rule";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

export type TaxRule = TypeOf<typeof taxRuleRecord>;

/** A tax rule: its standard rate. */
export const taxRule: RecordKind<Reading<TaxRule>> = catalogueKind({
  table: "tax_rule",
  schema: taxRuleRecord,
  read: compileReader(taxRuleRecord),
});
