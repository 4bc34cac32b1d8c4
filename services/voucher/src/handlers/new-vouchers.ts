import { randomBytes } from "node:crypto";
import { isBeingErased } from "@tessera/events/personal-data/erasures";
import { errorsByIndex, type Fault } from "@tessera/kit/fault";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { isTaken } from "@tessera/kit/pg/failure";
import { inSlices, mapInSlices } from "@tessera/kit/waiting/in-slices";
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
import { insertVouchers, nextRevisions } from "../store/stored-vouchers.ts";
import { fromWireFields, toVoucherFact } from "../wire/voucher-messages.ts";

/** A code that another request takes at the same moment is found by the next attempt. */
const attempts = 3;

export function readNew({ fields, sent }: NewVoucher): VoucherChange {
  if (fields === undefined) throw new Error("a voucher was to be created from nothing");
  return { fields: fromWireFields(fields), sent: new Set(sent), before: undefined };
}

/** What is wrong with each voucher of one request, apart from the ledger and other vouchers. */
export async function checkNew(
  asked: readonly VoucherChange[],
  known: KnownReferences,
): Promise<readonly VoucherErrors[]> {
  const errors = await mapInSlices(asked, (change) => checkVoucher(change, known));
  return firstErrors(errors, findRepeats(asked.map(({ fields }) => fields)));
}

/** Finds codes and capacity that are taken, and violations of the rules about seats. */
export async function checkTaken(
  vouchers: readonly (SeatTerms & Pick<Voucher, "code">)[],
  {
    isCodeTaken,
    ledgerOf = () => [],
    series,
  }: {
    readonly isCodeTaken: (code: string) => boolean;
    /** The problems that the ledger reports about the voucher at an index. */
    readonly ledgerOf?: (index: number) => readonly LedgerProblem[];
    readonly series: boolean;
  },
): Promise<readonly VoucherErrors[]> {
  return mapInSlices(vouchers, (voucher, index): VoucherErrors => {
    const hasCodeOfOther = voucher.code !== "" && isCodeTaken(voucher.code);
    const message = findRefusal({ voucher, series, isCodeTaken: hasCodeOfOther, ledger: ledgerOf(index) });
    return message === undefined ? {} : { non_field_errors: [message] };
  });
}

/** The errors of a first check; of a second check where a voucher passed the first. */
export function firstErrors(
  first: readonly VoucherErrors[],
  second: readonly VoucherErrors[],
): readonly VoucherErrors[] {
  return first.map((errors, index) => (isWrong(errors) ? errors : (second[index] ?? {})));
}

export function isWrong(errors: VoucherErrors): boolean {
  return Object.keys(errors).length > 0;
}

/** Refuses waiting-list comments during their erasure: a new one would be erased without having been exported. */
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

export async function makeVouchers(
  asked: readonly VoucherChange[],
  { ids, now }: { readonly ids: readonly number[]; readonly now: number },
): Promise<Voucher[]> {
  return mapInSlices(asked, ({ fields }, index) => ({
    ...fields,
    id: ids[index] ?? 0,
    createdAt: now,
    redeemed: 0,
    budgetUsed: "0.00",
  }));
}

/**
 * Draws a code for each voucher that has none. Collisions are so rare that they are not looked up: the unique index
 * refuses a duplicate, and the request draws again.
 */
export async function drawCodes<V extends Pick<Voucher, "code">>(vouchers: readonly V[]): Promise<V[]> {
  const missing = vouchers.filter(({ code }) => code === "").length;
  const used = new Set(vouchers.map(({ code }) => code));
  const drawn: string[] = [];
  await inSlices(
    generateUntil(() => missing - drawn.length),
    (codes) => {
      for (const code of codes) {
        if (drawn.length === missing || used.has(code)) continue;
        used.add(code);
        drawn.push(code);
      }
    },
  );
  return vouchers.map((voucher) => (voucher.code === "" ? { ...voucher, code: drawn.pop() as string } : voucher));
}

function* generateUntil(wanted: () => number): Generator<readonly string[]> {
  while (wanted() > 0) yield generateCodes(randomBytes(20 * Math.min(wanted(), generatedAtOnce) + 64));
}

/** Takes about a millisecond. */
const generatedAtOnce = 500;

/** Vouchers, and characters of their comments, that are stored in one turn of some milliseconds. */
const [storedAtOnce, charactersAtOnce] = [500, 512 * 1024];

function* batchesOf(vouchers: readonly Voucher[]): Generator<readonly Voucher[]> {
  let batch: Voucher[] = [];
  let characters = 0;
  for (const voucher of vouchers) {
    if (batch.length === storedAtOnce || characters >= charactersAtOnce) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(voucher);
    characters += voucher.comment.length;
  }
  yield batch;
}

/** Stores vouchers, publishes them, and returns their resources. */
export async function storeNew(
  tx: Tx,
  place: EventKey,
  vouchers: readonly Voucher[],
): Promise<readonly VoucherOnWire[]> {
  await lockEvent(tx, place);
  const answered: VoucherOnWire[] = [];
  for (const batch of batchesOf(vouchers)) {
    const revisions = await nextRevisions(tx, batch.length);
    const stored = batch.map((voucher, index) => ({
      ...voucher,
      revision: revisions[index] ?? 0,
      baseRedeemed: 0,
      baseBudgetUsed: "0.00",
      countedAsOf: null,
    }));
    await insertVouchers(tx, place, stored);
    const facts = stored.map((voucher) => toVoucherFact(place, voucher));
    await tx.publish(topics.voucherChanged, facts);
    for (const { voucher } of facts) if (voucher !== undefined) answered.push(voucher);
  }
  return answered;
}

/** Retries a transaction whose code another transaction has taken. */
export async function retryTaken<T>(transact: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact();
    } catch (error) {
      if (attempt === attempts || !isTaken(error, "voucher_by_code")) throw error;
    }
  }
}
