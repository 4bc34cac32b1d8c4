import Big from "big.js";
import { type Answer, type Ask, type Market, nothingTaken, offerVoucher, refuse, type Taken } from "./offer-voucher.ts";

/** What a use holds while it is reserved. */
export interface Held {
  readonly voucher: number;
  readonly budget: string;
}

export interface Decision {
  /** In the order of the uses. */
  readonly answers: readonly Answer[];
  /** In the order of the uses; undefined: a use was refused, so nothing is held. */
  readonly held: readonly Held[] | undefined;
}

/** Decides the uses of a reservation: all are held or none. Each use leaves less to the later ones. */
export function decideReservation(uses: readonly Ask[], market: Market): Decision {
  const taken = new Map<string, Taken>();
  const wanted = Map.groupBy(uses, ({ code }) => code);
  const answers = uses.map((ask): Answer => {
    const before = taken.get(ask.code) ?? nothingTaken;
    const answer = offerVoucher(ask, market, before);
    const discount = "offer" in answer ? answer.offer.discount : "0.00";
    taken.set(ask.code, { uses: before.uses + 1, budget: new Big(before.budget).plus(discount).toFixed(2) });
    if ("refusal" in answer) return answer;
    const { remainingMinimum } = answer.offer;
    const isEnough = (wanted.get(ask.code)?.length ?? 0) >= remainingMinimum;
    return isEnough
      ? answer
      : refuse("too_few_uses", `This voucher has to be used ${remainingMinimum} times together at least.`);
  });
  const held = answers.flatMap((answer) =>
    "offer" in answer ? [{ voucher: answer.offer.voucher, budget: answer.offer.discount }] : [],
  );
  return { answers, held: held.length === uses.length ? held : undefined };
}
