import { cutPage } from "@tessera/kit/cut-page";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ListVouchersRequest, ListVouchersResponse } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { findUnknown } from "../domain/find-unknown.ts";
import { fault } from "../faults.ts";
import { requireEvent } from "../store/events.ts";
import { countVouchers, pageVouchers } from "../store/list-vouchers.ts";
import { findReferences } from "../store/references.ts";
import { toWireVoucher } from "../wire/vouchers.ts";

/** Pages through the vouchers of an event. */
export async function listVouchers(
  request: ListVouchersRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListVouchersResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    await requireEvent(db, request);
    await refuseUnknownIds(db, request);
    const count = await countVouchers(db, request);
    const { page, limit, offset } = cutPage(request, count);
    const vouchers = await pageVouchers(db, request, { ordering: request.ordering, limit, offset });
    return { vouchers: vouchers.map(toWireVoucher), count, page };
  });
}

const noSuchChoice = "Select a valid choice. That choice is not one of the available choices.";

/** An id that is not of this event is a mistake, wherever else it may exist. */
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
  const unknown = findUnknown({ item, variation, quota, subevent }, known);
  if (unknown.length === 0) return;
  throw fault("invalid_filter", "The event has not what a filter names.", {
    fields: Object.fromEntries(unknown.map(([name]) => [name, [noSuchChoice]])),
  });
}
