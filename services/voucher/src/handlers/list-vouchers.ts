import { cutPage } from "@tessera/kit/lists/cut-page";
import { refuseFilters } from "@tessera/kit/lists/refuse-filters";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ListVouchersRequest, ListVouchersResponse } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { findUnknown } from "../domain/find-unknown.ts";
import { planSearch } from "../domain/search-text.ts";
import { requireEvent } from "../store/events.ts";
import { findReferences } from "../store/references.ts";
import { searchVouchers } from "../store/search-vouchers.ts";
import type { VoucherFilter } from "../store/voucher-filter.ts";
import { countVouchers, pageVouchers } from "../store/voucher-pages.ts";
import { toWireVoucher } from "../wire/voucher-messages.ts";

/** Pages through the vouchers of an event. Count and page are of one snapshot. */
export async function listVouchers(
  request: ListVouchersRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListVouchersResponse> {
  return reads.inTurn(request.organizer, (db) =>
    db.transaction(async (tx) => {
      await requireEvent(tx, request);
      await refuseUnknownIds(tx, request);
      const filter = await searched(tx, request);
      const count = filter.ids?.length ?? (await countVouchers(tx, filter));
      const { page, limit, offset } = cutPage(request, count);
      const vouchers = await pageVouchers(tx, filter, { ordering: request.ordering, limit, offset, count });
      return { vouchers: vouchers.map(toWireVoucher), count, page };
    }),
  );
}

/** Replaces the search and all other conditions with the ids that the search has found. */
async function searched(db: Queryable, request: ListVouchersRequest): Promise<VoucherFilter> {
  const { organizer, event, search } = request;
  const filter = filterOf(request);
  if (search === undefined || search === "") return filter;
  return { organizer, event, ids: await searchVouchers(db, filter, planSearch(search)) };
}

function filterOf({ organizer, event, ...sent }: ListVouchersRequest): VoucherFilter {
  const { code, maxUsages, redeemed, blockQuota, allowIgnoreQuota, priceMode, value } = sent;
  const { item, variation, quota, tag, subevent, active } = sent;
  const ofPrice = { priceMode, value };
  const ofProduct = { item, variation, quota, subevent };
  return {
    organizer,
    event,
    code,
    maxUsages,
    redeemed,
    blockQuota,
    allowIgnoreQuota,
    ...ofPrice,
    ...ofProduct,
    tag,
    active,
  };
}

async function refuseUnknownIds(db: Queryable, request: ListVouchersRequest): Promise<void> {
  const { item, variation, quota, subevent } = request;
  const only = (id: number | undefined) => (id === undefined ? [] : [id]);
  if ([item, variation, quota, subevent].every((id) => id === undefined)) return;
  const known = await findReferences(db, request, {
    items: only(item),
    variations: only(variation),
    quotas: only(quota),
    subevents: only(subevent),
  });
  refuseFilters(findUnknown({ item, variation, quota, subevent }, known).map(([name]) => name));
}
