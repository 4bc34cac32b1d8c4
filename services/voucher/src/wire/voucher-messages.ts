import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import {
  VoucherFields as FieldsOnWire,
  type Voucher as VoucherOnWire,
} from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { voucher as voucherSchema } from "@tessera/resources/voucher";
import { fields } from "@tessera/schema/fields";
import type { Sums } from "../domain/count-uses.ts";
import { normalizeCode } from "../domain/normalize-code.ts";
import type { Voucher, VoucherFields } from "../domain/voucher.ts";
import type { StoredVoucher } from "../store/vouchers.ts";

export const voucherFields = fields(voucherSchema, FieldsOnWire);

export function toWireVoucher(voucher: Voucher): VoucherOnWire {
  const { id, createdAt, redeemed, budgetUsed } = voucher;
  return { id, fields: voucherFields.fromDomain(voucher), createdAt, redeemed, budgetUsed };
}

export function fromWireFields(sent: FieldsOnWire): VoucherFields {
  const read = voucherFields.toDomain(sent);
  return { ...read, code: normalizeCode(read.code) };
}

/** The fact of a voucher's state; without sums no position was ever one of its uses. */
export function toVoucherFact(
  { organizer, event }: { readonly organizer: string; readonly event: string },
  voucher: Pick<StoredVoucher, keyof Voucher | "revision" | "baseRedeemed" | "countedAsOf">,
  sums?: Pick<Sums, "redeemed" | "present">,
): VoucherChanged {
  const { id, revision, baseRedeemed, countedAsOf } = voucher;
  return {
    organizer,
    event,
    id,
    revision,
    changed: revision,
    voucher: toWireVoucher(voucher),
    usesElsewhere: baseRedeemed + (sums === undefined ? 0 : sums.redeemed - sums.present),
    countedAsOf: countedAsOf ?? undefined,
  };
}
