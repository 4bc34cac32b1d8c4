import {
  type NeedProblem,
  NeedProblemKind,
  type VoucherNeed,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import type { LedgerProblem, LedgerProblemKind } from "../domain/find-refusal.ts";
import type { CapacityNeed } from "../domain/takes-capacity.ts";

/** Encodes the need of a voucher for the state after the revision `basedOn`; 0: for its first state. */
export function toWireNeed(voucher: number, basedOn: number, need: CapacityNeed): VoucherNeed {
  const { item, variation, quota, subevent, validUntil, seat, usages: amount, isChecked } = need;
  return {
    voucher,
    item: item ?? undefined,
    variation: variation ?? undefined,
    quota: quota ?? undefined,
    subevent: subevent ?? undefined,
    amount,
    isChecked,
    validUntil: validUntil ?? undefined,
    seat: seat ?? undefined,
    basedOn,
  };
}

const kinds: ReadonlyMap<NeedProblemKind, LedgerProblemKind> = new Map([
  [NeedProblemKind.NO_QUOTA, "no_quota"],
  [NeedProblemKind.TOO_LITTLE_LEFT, "too_little_left"],
  [NeedProblemKind.NO_SUCH_SEAT, "no_such_seat"],
  [NeedProblemKind.SEAT_TAKEN, "seat_taken"],
  [NeedProblemKind.SEAT_OF_OTHER_ITEM, "seat_of_other_item"],
]);

export function fromWireProblem({ kind, quota }: NeedProblem): LedgerProblem {
  return { kind: kinds.get(kind) ?? "other", quota };
}
