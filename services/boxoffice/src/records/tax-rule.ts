import { compileReader, type Reading } from "@tessera/records/read";
import { taxRuleRecord } from "@tessera/resources/records/tax-rule";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

/** A tax rule, which is as its document. */
export type TaxRule = TypeOf<typeof taxRuleRecord>;

/** A tax rule: the rate of what it is set for. */
export const taxRule: RecordKind<Reading<TaxRule>> = catalogueKind({
  table: "tax_rule",
  schema: taxRuleRecord,
  read: compileReader(taxRuleRecord),
});
