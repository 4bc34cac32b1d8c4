import {
  RefusalReason,
  type VoucherAnswer,
  type VoucherAsk,
  type VoucherRefusal,
} from "@tessera/protos/gen/ticketing/voucher/v1/shop";
import { normalizeCode } from "../domain/normalize-code.ts";
import type { Answer, Ask, RefusalReason as Reason, Refusal } from "../domain/offer-voucher.ts";

/** Reads an ask of a shop, and normalizes the code. */
export function fromWireAsk({ code, item, variation, subevent, seat, price }: VoucherAsk): Ask {
  return {
    code: normalizeCode(code),
    item,
    variation: variation ?? null,
    subevent: subevent ?? null,
    seat: seat ?? null,
    price: price ?? null,
  };
}

export function toWireAnswer(answer: Answer): VoucherAnswer {
  if ("refusal" in answer) return { outcome: { $case: "refusal", value: toWireRefusal(answer.refusal) } };
  const { budgetLeft, ...offer } = answer.offer;
  return { outcome: { $case: "offer", value: { ...offer, budgetLeft: budgetLeft ?? undefined } } };
}

const reasons: Readonly<Record<Reason, RefusalReason>> = {
  unknown_code: RefusalReason.UNKNOWN_CODE,
  expired: RefusalReason.EXPIRED,
  used_up: RefusalReason.USED_UP,
  reserved: RefusalReason.RESERVED,
  too_many_uses: RefusalReason.TOO_MANY_USES,
  unknown_product: RefusalReason.UNKNOWN_PRODUCT,
  other_product: RefusalReason.OTHER_PRODUCT,
  unknown_date: RefusalReason.UNKNOWN_DATE,
  other_date: RefusalReason.OTHER_DATE,
  other_seat: RefusalReason.OTHER_SEAT,
  seat_of_other_voucher: RefusalReason.SEAT_OF_OTHER_VOUCHER,
  too_few_uses: RefusalReason.TOO_FEW_USES,
};

function toWireRefusal({ reason, sentence }: Refusal): VoucherRefusal {
  return { reason: reasons[reason], sentence };
}
