import { randomBytes } from "node:crypto";
import { errorsByIndex, type Fault } from "@tessera/kit/fault";
import { isBeingErased } from "@tessera/kit/personal-data/erasures";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { isTaken } from "@tessera/kit/pg/failure";
import type { NewVoucher, Voucher as VoucherOnWire } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { topics } from "@tessera/protos/topics";
import { checkVoucher, type KnownReferences, type VoucherChange, type VoucherErrors } from "../domain/check-voucher.ts";
import { findRefusal, type LedgerProblem, type SeatTerms } from "../domain/find-refusal.ts";
import { findRepeats } from "../domain/find-repeats.ts";
import { generateCodes } from "../domain/generate-code.ts";
import { namesGuest } from "../domain/guest-comment.ts";
import type { Voucher, VoucherFields } from "../domain/voucher.ts";
import { fault } from "../faults.ts";
import { lockEvent } from "../store/events.ts";
import type { EventKey } from "../store/keys.ts";
import { insertVouchers, nextRevisions } from "../store/vouchers.ts";
import { fromWireFields, toWireVoucher } from "../wire/vouchers.ts";

/** A code that another request takes at the same moment is found the next time. */
const attempts = 3;

/** Reads a voucher that is to be created. */
export function readNew({ fields, sent }: NewVoucher): VoucherChange {
  if (fields === undefined) throw new Error("a voucher was to be created from nothing");
  return { fields: fromWireFields(fields), sent: new Set(sent), before: undefined };
}

/** What is wrong with each voucher of one request, except what needs the ledger or other vouchers. */
export function checkNew(asked: readonly VoucherChange[], known: KnownReferences): readonly VoucherErrors[] {
  const repeats = findRepeats(asked.map(({ fields }) => fields));
  return firstErrors(
    asked.map((change) => checkVoucher(change, known)),
    repeats,
  );
}

/** What is wrong with vouchers of one request for codes and capacity that others have taken, and for what their seats do not allow. */
export function checkTaken(
  vouchers: readonly (SeatTerms & Pick<Voucher, "code">)[],
  {
    isCodeTaken,
    ledgerOf = () => [],
    series,
  }: {
    readonly isCodeTaken: (code: string) => boolean;
    /** What the ledger finds wrong with the voucher of an index. */
    readonly ledgerOf?: (index: number) => readonly LedgerProblem[];
    readonly series: boolean;
  },
): readonly VoucherErrors[] {
  return vouchers.map((voucher, index): VoucherErrors => {
    const hasCodeOfOther = voucher.code !== "" && isCodeTaken(voucher.code);
    const message = findRefusal({ voucher, series, isCodeTaken: hasCodeOfOther, ledger: ledgerOf(index) });
    return message === undefined ? {} : { non_field_errors: [message] };
  });
}

/** Of each voucher what a first check has found, or else a second one. */
export function firstErrors(
  first: readonly VoucherErrors[],
  second: readonly VoucherErrors[],
): readonly VoucherErrors[] {
  return first.map((errors, index) => (isWrong(errors) ? errors : (second[index] ?? {})));
}

export function isWrong(errors: VoucherErrors): boolean {
  return Object.keys(errors).length > 0;
}

/** Refuses comments of the waiting list while those of the event are erased: a new one would go with them, and in no export. */
export async function findErasing(
  tx: Queryable,
  place: EventKey,
  vouchers: readonly Pick<VoucherFields, "tag" | "comment">[],
): Promise<Fault | undefined> {
  if (!vouchers.some(namesGuest) || !(await isBeingErased(tx, place, ["waiting_list"]))) return undefined;
  return fault("event_being_erased", "The waiting list of the event is being erased; try again later.", {
    retryAfterMs: 5000,
  });
}

/** Reports what is wrong with vouchers, under `<index>.<field>`. */
export function toFault(errors: readonly VoucherErrors[]): Fault | undefined {
  const wrong = errors.filter(isWrong).length;
  if (wrong === 0) return undefined;
  return fault("invalid_vouchers", `${wrong} of ${errors.length} vouchers are not valid.`, {
    fields: errorsByIndex(errors),
  });
}

/** Makes vouchers of what was asked for. */
export function makeVouchers(
  asked: readonly VoucherChange[],
  { ids, now }: { readonly ids: readonly number[]; readonly now: number },
): Voucher[] {
  return asked.map(({ fields }, index) => ({
    ...fields,
    id: ids[index] ?? 0,
    createdAt: now,
    redeemed: 0,
    budgetUsed: "0.00",
  }));
}

/**
 * Gives a code to each voucher that has none. Whether another voucher has it already is not looked up: of so many codes
 * hardly any two are drawn twice, the index refuses the second, and then others are drawn.
 */
export function drawCodes<V extends Pick<Voucher, "code">>(vouchers: readonly V[]): V[] {
  const missing = vouchers.filter(({ code }) => code === "").length;
  const used = new Set(vouchers.map(({ code }) => code));
  const drawn: string[] = [];
  while (drawn.length < missing) {
    for (const code of generateCodes(randomBytes(20 * (missing - drawn.length) + 64))) {
      if (drawn.length === missing || used.has(code)) continue;
      used.add(code);
      drawn.push(code);
    }
  }
  return vouchers.map((voucher) => (voucher.code === "" ? { ...voucher, code: drawn.pop() as string } : voucher));
}

/** Stores vouchers, publishes them, and returns them as they are answered. */
export async function storeNew(
  tx: Tx,
  place: EventKey,
  vouchers: readonly Voucher[],
): Promise<readonly VoucherOnWire[]> {
  await lockEvent(tx, place);
  const revisions = await nextRevisions(tx, vouchers.length);
  await insertVouchers(
    tx,
    place,
    vouchers.map((voucher, index) => ({
      ...voucher,
      revision: revisions[index] ?? 0,
      baseRedeemed: 0,
      baseBudgetUsed: "0.00",
      countedAsOf: null,
    })),
  );
  const answered = vouchers.map(toWireVoucher);
  const { organizer, event } = place;
  await tx.publish(
    topics.voucherChanged,
    answered.map((voucher, index) => {
      const revision = revisions[index] ?? 0;
      return { organizer, event, id: voucher.id, revision, changed: revision, voucher, usesElsewhere: 0 };
    }),
  );
  return answered;
}

/** Runs a transaction again whose code another one has taken meanwhile. */
export async function retryTaken<T>(transact: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact();
    } catch (error) {
      if (attempt === attempts || !isTaken(error, "voucher_by_code")) throw error;
    }
  }
}
