import type { VoucherAnswer, VoucherAsk } from "@tessera/protos/gen/ticketing/voucher/v1/shop";
import type { TypeOf } from "@tessera/schema/schema";
import type { checkBody } from "./schema.ts";

type SentAsk = TypeOf<typeof checkBody.schema>["asks"][number];

export function toAsk({ code, item, variation, subevent, seat, price }: SentAsk): VoucherAsk {
  return {
    ...{ code, item, variation: variation ?? undefined, subevent: subevent ?? undefined },
    ...{ seat: seat ?? undefined, price: price ?? undefined },
  };
}

export function presentAnswer({ outcome }: VoucherAnswer) {
  if (outcome === undefined) throw new Error("voucher answered neither with an offer nor with a refusal");
  if (outcome.$case === "refusal") {
    const { reason, sentence: detail } = outcome.value;
    return { offer: null, refusal: { reason: reason.replace("REFUSAL_REASON_", "").toLowerCase(), detail } };
  }
  const { voucher, priceBefore, price, discount, usesLeft, budgetLeft, remainingMinimum } = outcome.value;
  const offer = {
    ...{ voucher, price_before: priceBefore, price, discount, uses_left: usesLeft },
    ...{ budget_left: budgetLeft ?? null, remaining_minimum: remainingMinimum },
  };
  return { offer, refusal: null };
}
