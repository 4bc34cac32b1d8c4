import { randomBytes } from "node:crypto";
import type { Clock } from "@tessera/kit/clock";
import type { FieldErrors } from "@tessera/kit/fault";
import { answerOnce } from "@tessera/kit/pg/answer-once";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { isTaken } from "@tessera/kit/pg/failure";
import type { CreateVouchersRequest, CreateVouchersResponse } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { Vouchers } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { checkVoucher, type VoucherErrors } from "../domain/check-voucher.ts";
import { findRefusal } from "../domain/find-refusal.ts";
import { findRepeats } from "../domain/find-repeats.ts";
import { generateCodes } from "../domain/generate-code.ts";
import { findNeed } from "../domain/takes-capacity.ts";
import type { Voucher } from "../domain/voucher.ts";
import { fault } from "../faults.ts";
import { type Held, type HoldTools, holdWhile } from "../holds.ts";
import type { EventKey } from "../store/keys.ts";
import { findCodes, nextRevisions, nextVoucherIds, putVouchers, type StoredVoucher } from "../store/vouchers.ts";
import { fromWireProblem, toWireNeed } from "../wire/capacity.ts";
import { fromWireFields, toVoucherFact, toWireVoucher } from "../wire/vouchers.ts";
import { findKnown } from "./check-against-event.ts";

/** As many as a request may bring. */
const mostVouchers = 10_000;

/** A code that another request takes at the same moment is found the next time. */
const attempts = 3;

/** Adds vouchers to an event: all of them or none. */
export async function createVouchers(
  request: CreateVouchersRequest,
  tools: HoldTools & { readonly clock: Clock },
): Promise<CreateVouchersResponse> {
  const { db, clock, events } = tools;
  const { organizer, event } = request;
  const place = { organizer, event };
  if (request.vouchers.length > mostVouchers) {
    throw fault("too_many_vouchers", `Create at most ${mostVouchers} vouchers at once.`);
  }
  const asked = request.vouchers.map(({ fields, sent }) => {
    if (fields === undefined) throw new Error("a voucher was to be created from nothing");
    return { fields: fromWireFields(fields), sent: new Set(sent), before: undefined };
  });
  const known = await findKnown(
    db,
    place,
    asked.map(({ fields }) => fields),
  );
  refuseInvalid(asked.map((change) => checkVoucher(change, known)));
  refuseInvalid(findRepeats(asked.map(({ fields }) => fields)));
  const now = clock.now();
  const ids = await nextVoucherIds(db, asked.length);
  const codes = await drawCodes(
    db,
    place,
    asked.map(({ fields }) => fields.code),
  );
  const vouchers = asked.map(({ fields }, index): Voucher => {
    const [id = 0, code = ""] = [ids[index], codes[index]];
    return { ...fields, id, code, createdAt: now, redeemed: 0, budgetUsed: "0.00" };
  });
  const needs = vouchers.flatMap((voucher, index) => {
    const need = findNeed(voucher, { before: undefined, now });
    return need === undefined ? [] : [{ index, need: toWireNeed(voucher.id, need) }];
  });
  return holdWhile(tools, { place, needs: needs.map(({ need }) => need) }, async (held) => {
    const places = needs.map(({ index }) => index);
    const response = await retryTaken(() =>
      answerOnce(db, Vouchers.createVouchers, async (tx) => {
        const stored = await storeNew(tx, place, { vouchers, held, places, isSeries: known.series });
        return { vouchers: stored.map(toWireVoucher) };
      }),
    );
    if (response.vouchers[0]?.id === ids[0]) events.vouchersCreated(place, vouchers.length);
    return response;
  });
}

async function storeNew(
  tx: Tx,
  place: EventKey,
  {
    vouchers,
    held,
    places,
    isSeries,
  }: {
    readonly vouchers: readonly Voucher[];
    readonly held: Held;
    /** Of each need, the place of its voucher. */
    readonly places: readonly number[];
    readonly isSeries: boolean;
  },
): Promise<readonly StoredVoucher[]> {
  const taken = await findCodes(
    tx,
    place,
    vouchers.map(({ code }) => code),
  );
  const problems = Map.groupBy(held.problems, ({ need }) => places[need] ?? -1);
  refuseInvalid(
    vouchers.map((voucher, index) => {
      const ledger = (problems.get(index) ?? []).map(fromWireProblem);
      const message = findRefusal({ voucher, series: isSeries, isCodeTaken: taken.has(voucher.code), ledger });
      return message === undefined ? {} : { non_field_errors: [message] };
    }),
  );
  const holds = await held.confirm(tx);
  const revisions = await nextRevisions(tx, vouchers.length);
  const stored = vouchers.map((voucher, index) => ({
    ...voucher,
    revision: revisions[index] ?? 0,
    countedAsOf: null,
  }));
  await putVouchers(tx, place, stored);
  await tx.publish(
    topics.voucherChanged,
    stored.map((voucher) => toVoucherFact(place, voucher, holds)),
  );
  return stored;
}

/** Throws what is wrong with vouchers, under `<index>.<field>`. */
function refuseInvalid(errors: readonly VoucherErrors[]): void {
  const fields: FieldErrors = Object.fromEntries(
    errors.flatMap((ofOne, index) => Object.entries(ofOne).map(([name, messages]) => [`${index}.${name}`, messages])),
  );
  const wrong = errors.filter((ofOne) => Object.keys(ofOne).length > 0).length;
  if (wrong > 0) throw fault("invalid_vouchers", `${wrong} of ${errors.length} vouchers are not valid.`, { fields });
}

/** Gives a code to each voucher that has none. */
async function drawCodes(db: Db, place: EventKey, codes: readonly string[]): Promise<readonly string[]> {
  const missing = codes.filter((code) => code === "").length;
  const used = new Set(codes);
  const drawn: string[] = [];
  while (drawn.length < missing) {
    const fresh = new Set(generateCodes(randomBytes(20 * (missing - drawn.length) + 64)));
    const taken = await findCodes(db, place, [...fresh]);
    for (const code of fresh) {
      if (drawn.length === missing || used.has(code) || taken.has(code)) continue;
      used.add(code);
      drawn.push(code);
    }
  }
  return codes.map((code) => (code === "" ? (drawn.pop() as string) : code));
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
