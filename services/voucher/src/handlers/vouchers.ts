import { answerOnce, findAnswer } from "@tessera/events/answer-once";
import type { Clock } from "@tessera/kit/clock";
import { cutPage } from "@tessera/kit/lists/cut-page";
import { refuseFilters } from "@tessera/kit/lists/refuse-filters";
import type { Db, Queryable, Tx } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import type {
  DeleteVoucherRequest,
  DeleteVoucherResponse,
  GetVoucherRequest,
  GetVoucherResponse,
  ListVouchersRequest,
  ListVouchersResponse,
  UpdateVoucherRequest,
  UpdateVoucherResponse,
} from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { Vouchers } from "@tessera/protos/services";
import { entityKey, topics } from "@tessera/protos/topics";
import { type HoldTools, holdWhile, tellVouchers } from "../capacity/holds.ts";
import { storeChanged } from "../capacity/store-changed.ts";
import { checkVoucher, type VoucherErrors } from "../domain/check-voucher.ts";
import { findRefusal } from "../domain/find-refusal.ts";
import { findUnknown } from "../domain/find-unknown.ts";
import { planSearch } from "../domain/search-text.ts";
import { findNeed, isClaiming } from "../domain/takes-capacity.ts";
import type { Voucher } from "../domain/voucher.ts";
import { fault } from "../faults.ts";
import { requireEvent } from "../store/events.ts";
import type { EntityKey } from "../store/keys.ts";
import { findReferences } from "../store/references.ts";
import { countReserved } from "../store/reservations.ts";
import { searchVouchers } from "../store/search-vouchers.ts";
import { deleteVouchers, findCodes, lockVouchers, nextRevisions, requireVoucher } from "../store/stored-vouchers.ts";
import { isUsed } from "../store/uses.ts";
import type { VoucherFilter } from "../store/voucher-filter.ts";
import { countVouchers, pageVouchers } from "../store/voucher-pages.ts";
import { fromWireProblem, toWireNeed } from "../wire/capacity.ts";
import { fromWireFields, toWireVoucher, voucherFields } from "../wire/voucher-messages.ts";
import { findKnown } from "./check-against-event.ts";
import { findErasing, retryTaken } from "./new-vouchers.ts";

/** Pages through the vouchers of an event. Count and page are of one snapshot. */
export async function listVouchers(
  { search, ordering, page, pageSize, ...wanted }: ListVouchersRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListVouchersResponse> {
  return reads.inTurn(wanted.organizer, (db) =>
    db.transaction(async (tx) => {
      await requireEvent(tx, wanted);
      await refuseUnknownIds(tx, wanted);
      const filter = await searched(tx, wanted, search);
      const count = filter.ids?.length ?? (await countVouchers(tx, filter));
      const { page: served, limit, offset } = cutPage({ page, pageSize }, count);
      const vouchers = await pageVouchers(tx, filter, { ordering, limit, offset, count });
      return { vouchers: vouchers.map(toWireVoucher), count, page: served };
    }),
  );
}

/** Replaces the search and all other conditions with the ids that the search has found. */
async function searched(db: Queryable, filter: VoucherFilter, search: string | undefined): Promise<VoucherFilter> {
  if (search === undefined || search === "") return filter;
  const { organizer, event } = filter;
  return { organizer, event, ids: await searchVouchers(db, filter, planSearch(search)) };
}

async function refuseUnknownIds(db: Queryable, filter: VoucherFilter): Promise<void> {
  const { item, variation, quota, subevent } = filter;
  const only = (id: number | undefined) => (id === undefined ? [] : [id]);
  if ([item, variation, quota, subevent].every((id) => id === undefined)) return;
  const known = await findReferences(db, filter, {
    items: only(item),
    variations: only(variation),
    quotas: only(quota),
    subevents: only(subevent),
  });
  refuseFilters(findUnknown({ item, variation, quota, subevent }, known).map(([name]) => name));
}

export async function getVoucher(request: GetVoucherRequest, { db }: { readonly db: Db }): Promise<GetVoucherResponse> {
  await requireEvent(db, request);
  return { voucher: toWireVoucher(await requireVoucher(db, request)) };
}

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

/** Deletes a voucher that was never used, and that no cart has reserved, and releases its capacity. */
export async function deleteVoucher(request: DeleteVoucherRequest, tools: HoldTools): Promise<DeleteVoucherResponse> {
  const { db, events } = tools;
  const { organizer, event, id } = request;
  let isDeleted = false;
  let told: readonly VoucherChanged[] = [];
  const response = await answerOnce(db, Vouchers.deleteVoucher, async (tx) => {
    await requireEvent(tx, request);
    const [voucher] = await lockVouchers(tx, [{ organizer, event, id }]);
    if (voucher === undefined) throw fault("voucher_not_found", "The event has no such voucher.");
    if (voucher.redeemed > 0 || (await isUsed(tx, request)))
      throw fault("voucher_used", "This voucher was used, so it cannot be deleted.");
    if ((await countReserved(tx, request)) > 0)
      throw fault("voucher_reserved", "A cart has reserved this voucher; delete it when the reservation has ended.");
    await deleteVouchers(tx, [{ organizer, event, id }]);
    const [deletedAt = 0] = await nextRevisions(tx, 1);
    await tx.retract(topics.voucherChanged, [entityKey(organizer, event, id)], { deletedAt });
    isDeleted = true;
    const gone = {
      organizer,
      event,
      id,
      revision: deletedAt,
      changed: deletedAt,
      voucher: undefined,
      recordedUses: 0,
    };
    told = isClaiming(voucher) ? [gone] : [];
    return {};
  });
  if (isDeleted) events.voucherDeleted({ organizer, event }, id);
  if (told.length > 0) await tellVouchers(tools, told);
  return response;
}
