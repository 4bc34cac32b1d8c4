import { type NewVoucher, type Voucher, VoucherFields } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { voucher } from "@tessera/resources/voucher";
import { fields } from "@tessera/schema/fields";
import { compileSchema } from "@tessera/schema/schema";
import { formatInstant } from "@tessera/values";
import type { SentVoucher } from "./schema.ts";

export const voucherFields = fields(voucher, VoucherFields);

/** The defaults of all fields but the code. */
const defaults = readDefaults();

function readDefaults(): SentVoucher {
  const checked = compileSchema(voucher)({});
  if (!checked.ok) throw new Error("the defaults of a voucher are not valid");
  return checked.value;
}

/** Fills in the defaults of missing fields. */
export function withDefaults(sent: SentVoucher): SentVoucher {
  return { ...defaults, ...sent };
}

/** A voucher to create, with its code generated if it has none. */
export function toNewVoucher(sent: SentVoucher): NewVoucher {
  return { fields: voucherFields.toMessage(withDefaults(sent)), sent: voucherFields.namesIn(sent) };
}

/** The fields of a voucher, in the documented order. */
export function presentVoucher(shown: Voucher | undefined) {
  if (shown?.fields === undefined) throw new Error("voucher answered without the fields of a voucher");
  const { code, max_usages, budget, ...others } = voucherFields.present(shown.fields);
  return {
    id: shown.id,
    created: formatInstant(shown.createdAt),
    code,
    max_usages,
    redeemed: shown.redeemed,
    ...others,
    budget,
    budget_used: shown.budgetUsed,
  };
}
