import { any, boolean, field, id, object } from "@tessera/schema/build";
import { lineOrNull, names, taxRate } from "./parts.ts";

export const taxRuleRecord = object(
  {
    id: field(id(), "Its id.", 1),
    name: field(names(), "Its name, by language.", { en: "VAT" }),
    internal_name: field(lineOrNull(), "Its name for staff; null: `name`.", "VAT 19 %"),
    rate: field(taxRate(), "The rate in percent.", "19.00"),
    code: field(lineOrNull(190), "The code of the rate for electronic invoices.", "S/standard"),
    price_includes_tax: field(boolean({ default: true }), "Prices include the tax."),
    default: field(boolean({ default: false }), "It is the rule for what names no other."),
    eu_reverse_charge: field(boolean({ default: false }), "Business customers of other EU countries pay no tax."),
    home_country: field(lineOrNull(2), "The seller's country, for reverse charge.", "DE"),
    keep_gross_if_rate_changes: field(
      boolean({ default: false }),
      "Where the rate depends on the customer, the gross price stays.",
    ),
    custom_rules: field(any({ default: null }), "Rules that depend on the customer's country, as the shop has them.", [
      { country: "ZZ", address_type: "", action: "vat" },
    ]),
  },
  { required: ["id"] },
);
