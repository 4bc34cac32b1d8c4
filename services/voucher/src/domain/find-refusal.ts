import type { VoucherFields } from "./voucher.ts";

/** What the ledger reports about a need. `other`: unknown to this version. */
export type LedgerProblemKind =
  | "no_quota"
  | "too_little_left"
  | "no_such_seat"
  | "seat_taken"
  | "seat_of_other_item"
  | "other";

export interface LedgerProblem {
  readonly kind: LedgerProblemKind;
  /** The quota that is exhausted. */
  readonly quota?: number | undefined;
}

type Reason = LedgerProblemKind | SeatRule | "code_taken";

type SeatRule = "seat_without_date" | "seat_with_quota" | "seat_for_many";

/** Order of precedence: capacity, then the code, then the seat. */
const order: readonly Reason[] = [
  "no_quota",
  "too_little_left",
  "code_taken",
  "seat_without_date",
  "no_such_seat",
  "seat_taken",
  "seat_with_quota",
  "seat_for_many",
  "seat_of_other_item",
  "other",
];

const messages: Readonly<Record<Reason, string>> = {
  no_quota: "This product has no quota on this date: there is nothing to block.",
  too_little_left: "There is not enough left of a quota to block it for this voucher.",
  code_taken: "Another voucher of this event has this code.",
  seat_without_date: "In an event series, a voucher for a seat needs a date.",
  no_such_seat: "This event has no such seat on this date.",
  seat_taken: "This seat is not available.",
  seat_with_quota: "A voucher for a seat is for a product, not for a quota.",
  seat_for_many: "A voucher for a seat can be redeemed once only.",
  seat_of_other_item: "This seat belongs to another product.",
  other: "The capacity that this voucher needs is not available.",
};

export type SeatTerms = Pick<VoucherFields, "seat" | "subevent" | "quota" | "maxUsages" | "minUsages">;

/** Finds the one error of a voucher with consistent fields: capacity and codes taken by others, and seats. */
export function findRefusal({
  voucher,
  series,
  isCodeTaken,
  ledger,
}: {
  readonly voucher: SeatTerms;
  readonly series: boolean;
  readonly isCodeTaken: boolean;
  readonly ledger: readonly LedgerProblem[];
}): string | undefined {
  const found = new Set<Reason>([
    ...ledger.map(({ kind }) => kind),
    ...findBrokenSeatRules(voucher, { series }),
    ...(isCodeTaken ? (["code_taken"] as const) : []),
  ]);
  const first = order.find((reason) => found.has(reason));
  const quota = ledger.find(({ kind }) => kind === first)?.quota;
  if (first === "too_little_left" && quota !== undefined) {
    return `There is not enough left of quota ${quota} to block it for this voucher.`;
  }
  return first === undefined ? undefined : messages[first];
}

function findBrokenSeatRules(
  { seat, subevent, quota, maxUsages, minUsages }: SeatTerms,
  { series }: { readonly series: boolean },
): SeatRule[] {
  if (seat === null) return [];
  return [
    ...(series && subevent === null ? (["seat_without_date"] as const) : []),
    ...(quota !== null ? (["seat_with_quota"] as const) : []),
    ...(maxUsages > 1 || minUsages > 1 ? (["seat_for_many"] as const) : []),
  ];
}
