import {
  type NeedProblem,
  NeedProblemKind,
  type VoucherNeed,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import type { QuotaAvailability } from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import type { Availability } from "../domain/availability.ts";
import type { Need, Problem } from "../domain/fit-needs.ts";

const kinds: Readonly<Record<Problem["kind"], NeedProblemKind>> = {
  no_quota: NeedProblemKind.NO_QUOTA,
  too_little_left: NeedProblemKind.TOO_LITTLE_LEFT,
  no_such_seat: NeedProblemKind.NO_SUCH_SEAT,
  seat_taken: NeedProblemKind.SEAT_TAKEN,
  seat_of_other_item: NeedProblemKind.SEAT_OF_OTHER_ITEM,
};

export function toNeed({ voucher, basedOn, amount: usages, isChecked, ...rest }: VoucherNeed): Need {
  const { item = null, variation = null, quota = null, subevent = null, validUntil = null, seat = null } = rest;
  return { voucher, basedOn, item, variation, quota, subevent, usages, isChecked, validUntil, seat };
}

/** Writes why the need at an index cannot be held. */
export function toNeedProblem(need: number, problem: Problem): NeedProblem {
  const kind = kinds[problem.kind];
  return problem.kind === "too_little_left" ? { need, kind, quota: problem.quota } : { need, kind };
}

/** Writes what is left of a quota for sale: nothing of a closed or overbooked one. */
export function toQuotaAvailability({ state, left, paid, pending, byVouchers }: Availability): QuotaAvailability {
  const isAvailable = state === "available";
  return { isAvailable, left: isAvailable ? (left ?? undefined) : 0, paid, pending, byVouchers };
}
