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
