import { voucher } from "@tessera/resources/voucher";
import { arrayOf, decimal, id, instant, integer, partial, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { fieldErrors, record } from "../../http/answers.ts";
import { listBodyOf } from "../../http/list-body.ts";
import { type Answer, bodyOf, type ObjectBody } from "../../http/route.ts";

/** The fields without their defaults. */
const patchable = partial(voucher);

/** The service knows the code that the voucher has, which may be shorter than a new one: records bring such codes. */
const code = text({
  blank: false,
  maxLength: 255,
  examples: ["SUMMER27"],
  description: "What a customer enters: 5 characters at least, unless the voucher has this code.",
});

const changed = { ...voucher, properties: { ...voucher.properties, code } } as const;

/** The sent fields of a voucher. */
export type SentVoucher = TypeOf<typeof patchable>;

export const priceModes = ["none", "set", "subtract", "percent"] as const;

/** The longest comment takes six bytes for each UTF-16 code unit, if a client escapes it. */
const voucherLimits = { maxBytes: 1024 * 1024, mostValues: 5000 };

export const voucherPatch = bodyOf(
  { title: "VoucherPatch", ...partial(changed) },
  { missingBooleans: "absent", ...voucherLimits },
);

/** The body of POST. Defaults are filled in later: the service must know which fields were sent. */
export const voucherBody: ObjectBody<SentVoucher> = {
  ...bodyOf({ title: "VoucherBody", ...patchable }, voucherLimits),
  schema: { title: "VoucherBody", ...voucher },
  missingBooleans: "false",
};

/** The body of PUT. */
export const voucherPut: ObjectBody<SentVoucher> = {
  ...voucherPatch,
  schema: { title: "VoucherPut", ...changed },
  missingBooleans: "false",
};

/** Ten thousand vouchers with every field, some of them with long comments. */
export const batchBody = listBodyOf(voucherBody, { mostElements: 10_000, maxBytes: 10 * 1024 * 1024 });

const {
  max_usages,
  min_usages,
  seat: _seat,
  code: _code,
  tag: _tag,
  comment: _comment,
  ...others
} = patchable.properties;

/** A voucher as it is answered. Imported vouchers may exceed the limits of the API. */
export const voucherShown = record("Voucher", {
  id: id(),
  created: instant({ description: "When it was created." }),
  code: text(),
  max_usages,
  redeemed: integer({ description: "How often it was redeemed." }),
  min_usages,
  ...others,
  seat: text({ nullable: true }),
  tag: text(),
  comment: text(),
  budget_used: decimal({ description: "What its discounts came to so far." }),
});

export const vouchersShown = arrayOf(voucherShown);

export const invalidBatch: Answer = {
  description:
    "The request is not valid. Of a list the errors of each element are told, in the order of the request; a good one has none.",
  schema: { anyOf: [{ type: "array", items: fieldErrors }, fieldErrors] },
};
