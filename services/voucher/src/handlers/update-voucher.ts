import { answerOnce, findAnswer } from "@tessera/events/answer-once";
import type { Clock } from "@tessera/kit/clock";
import type { Tx } from "@tessera/kit/pg/database";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import type { UpdateVoucherRequest, UpdateVoucherResponse } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { Vouchers } from "@tessera/protos/services";
import { type HoldTools, holdWhile, tellVouchers } from "../capacity/holds.ts";
import { storeChanged } from "../capacity/store-changed.ts";
import { checkVoucher, type VoucherErrors } from "../domain/check-voucher.ts";
import { findRefusal } from "../domain/find-refusal.ts";
import { findNeed, isClaiming } from "../domain/takes-capacity.ts";
import type { Voucher } from "../domain/voucher.ts";
import { fault } from "../faults.ts";
import type { EntityKey } from "../store/keys.ts";
import { countReserved } from "../store/reservations.ts";
import { findCodes, lockVouchers, requireVoucher } from "../store/vouchers.ts";
import { fromWireProblem, toWireNeed } from "../wire/capacity.ts";
import { fromWireFields, voucherFields } from "../wire/voucher-messages.ts";
import { findKnown } from "./check-against-event.ts";
import { findErasing, retryTaken } from "./new-vouchers.ts";

/** The voucher was changed between read and write. */
class ChangedMeanwhile extends Error {
  override readonly name = "ChangedMeanwhile";
}

const attempts = 5;

/** Changes the named fields of a voucher. The rules between fields apply to the whole voucher. */
export async function updateVoucher(
  request: UpdateVoucherRequest,
  tools: HoldTools & { readonly clock: Clock },
): Promise<UpdateVoucherResponse> {
  const unknown = request.updateMask.filter((name) => !voucherFields.names.has(name));
  if (unknown.length > 0) throw fault("invalid_mask", `A voucher has no field ${unknown.join(", ")}.`);
  const answered = await findAnswer(tools.db, Vouchers.updateVoucher);
  if (answered !== undefined) return answered;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await updateOnce(request, tools);
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      if (attempt === attempts) {
        throw fault("voucher_changed", "The voucher is being changed by others; try again.", { retryAfterMs: 1000 });
      }
    }
  }
}

/** Reads the voucher before and after the change, and the entities that it refers to. */
async function readChange(request: UpdateVoucherRequest, { db }: Pick<HoldTools, "db">) {
  if (request.fields === undefined) throw new Error("a voucher was to be changed to nothing");
  const { organizer, event } = request;
  const sent = new Set(request.updateMask);
  const before = await requireVoucher(db, request);
  const fields = voucherFields.apply(before, fromWireFields(request.fields), sent);
  return { change: { fields, sent, before }, known: await findKnown(db, { organizer, event }, [fields]) };
}

async function updateOnce(
  request: UpdateVoucherRequest,
  tools: HoldTools & { readonly clock: Clock },
): Promise<UpdateVoucherResponse> {
  const { db, clock, events } = tools;
  const { organizer, event, id } = request;
  const place = { organizer, event };
  const { change, known } = await readChange(request, tools);
  const { before, fields: after } = change;
  refuseInvalid(checkVoucher(change, known));
  const now = clock.now();
  const need = findNeed(after, { before, now });
  const needs = need === undefined ? [] : [toWireNeed(id, before.revision, need)];
  let told: readonly VoucherChanged[] = [];
  const response = await holdWhile(tools, { place, needs }, (held) =>
    retryTaken(() =>
      answerOnce(
        db,
        Vouchers.updateVoucher,
        async (tx) => {
          const [locked] = await lockVouchers(tx, [{ ...place, id }]);
          if (locked === undefined) throw fault("voucher_not_found", "The event has no such voucher.");
          // Optimistic locking. The ledger relies on it: a hold is confirmed by the revision that follows the one it
          // was asked for.
          if (locked.revision !== before.revision) throw new ChangedMeanwhile();
          await refuseBelowReserved(tx, request, { before: locked, after });
          const erasing = await findErasing(tx, place, isCommented(before, after) ? [after] : []);
          if (erasing !== undefined) throw erasing;
          const holder = (await findCodes(tx, place, [after.code])).get(after.code);
          const isCodeTaken = holder !== undefined && holder !== id;
          const ledger = held.problems.map(fromWireProblem);
          const message = findRefusal({ voucher: after, series: known.series, isCodeTaken, ledger });
          if (message !== undefined) refuseInvalid({ non_field_errors: [message] });
          await held.confirm(tx);
          const facts = await storeChanged(tx, [{ ...after, ...place }]);
          told = facts;
          return { voucher: facts[0]?.voucher };
        },
        { of: place },
      ),
    ),
  );
  if (told.length > 0) events.voucherChanged(place, id);
  if (told.length > 0 && isClaiming(before)) await tellVouchers(tools, told);
  return response;
}

function isCommented(before: Voucher, after: Voucher): boolean {
  return before.comment !== after.comment || before.tag !== after.tag;
}

/** Reserved usages can still be sold: `max_usages` cannot go below them. */
async function refuseBelowReserved(
  tx: Tx,
  key: EntityKey,
  { before, after }: { readonly before: Voucher; readonly after: Voucher },
): Promise<void> {
  if (after.maxUsages >= before.maxUsages) return;
  const reserved = await countReserved(tx, key);
  const least = before.redeemed + reserved;
  if (reserved === 0 || after.maxUsages >= least) return;
  refuseInvalid({
    non_field_errors: [
      `This voucher was redeemed ${before.redeemed} times, and carts have reserved it ${reserved} times: \`max_usages\` cannot be less than ${least} until they end.`,
    ],
  });
}

function refuseInvalid(errors: VoucherErrors): void {
  const fields = Object.keys(errors);
  if (fields.length === 0) return;
  throw fault("invalid_voucher", `The voucher is not valid: ${fields.join(", ")}.`, { fields: errors });
}
