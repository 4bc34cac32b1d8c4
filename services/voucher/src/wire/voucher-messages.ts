import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import {
  VoucherFields as FieldsOnWire,
  type Voucher as VoucherOnWire,
} from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { voucher as voucherSchema } from "@tessera/resources/voucher";
import { fields } from "@tessera/schema/fields";
import { normalizeCode } from "../domain/normalize-code.ts";
import type { Voucher, VoucherFields } from "../domain/voucher.ts";
import type { StoredVoucher } from "../store/stored-vouchers.ts";

export const voucherFields = fields(voucherSchema, FieldsOnWire);

export function toWireVoucher(voucher: Voucher): VoucherOnWire {
  const { id, createdAt, redeemed, budgetUsed } = voucher;
  return { id, fields: voucherFields.fromDomain(voucher), createdAt, redeemed, budgetUsed };
}

export function fromWireFields(sent: FieldsOnWire): VoucherFields {
  const read = voucherFields.toDomain(sent);
  return { ...read, code: normalizeCode(read.code) };
}

/** The fact of a voucher's state. */
export function toVoucherFact(
  { organizer, event }: { readonly organizer: string; readonly event: string },
  voucher: Pick<StoredVoucher, keyof Voucher | "revision" | "baseRedeemed" | "countedAsOf">,
): VoucherChanged {
  const { id, revision, baseRedeemed, countedAsOf } = voucher;
  return {
    organizer,
    event,
    id,
    revision,
    changed: revision,
    voucher: toWireVoucher(voucher),
    recordedUses: baseRedeemed,
    countedAsOf: countedAsOf ?? undefined,
  };
}
