import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { eventData, itemData, ofEvent, orderData, positionData } from "../e2e/sample-records.ts";
import { toLines } from "./festival.ts";

/** An event of its own, so that orders of others do not take its quotas. */
export const event = "sharedfair";

/** Vouchers, orders of records and offline batches take these at the same time. */
export const sharedQuotas = [
  { id: 1, size: 60, item: 1 },
  { id: 2, size: 40, item: 2 },
] as const;

/** A product without a limit: orders use its vouchers more often than these say. */
export const soldItem = 3;

/** So many orders without a voucher have always one open position of each shared quota. Others come and go. */
export const standingOrders = 6;

export const recordedStates = ["paid", "pending", "expired", "canceled", "deleted"] as const;
export type RecordedState = (typeof recordedStates)[number];

/** An order without a voucher, which records bring: those from `standingOrders` on come and go. */
export function recordedOrder(
  { id, item }: (typeof sharedQuotas)[number],
  { at, state }: { readonly at: number; readonly state: RecordedState },
): unknown {
  const code = `R${id}X${at}`;
  if (state === "deleted") return { ...ofEvent("order", { code }, event), deleted: true };
  const name = `recorded-${id}-${at}`;
  const position = positionData({ id: 5000 + 100 * id + at, item, secret: name, pseudonymization_id: name });
  const status = { paid: "p", pending: "n", expired: "e", canceled: "c" }[state];
  return ofEvent("order", orderData({ code, status, positions: [position] }), event);
}

/** The event with its products and the orders that stay, as records. */
export const sharedEvent = toLines([
  ofEvent("event", eventData({ slug: event }), event),
  ofEvent("category", { id: 1, name: { en: "Tickets" }, position: 1 }, event),
  ...[...sharedQuotas.map(({ item }) => item), soldItem].map((id) => ofEvent("item", itemData({ id }), event)),
  ...[...sharedQuotas, { id: soldItem, size: null, item: soldItem }].map(({ id, size, item }) =>
    ofEvent("quota", { id, name: `Quota ${id}`, size, items: [item], variations: [], subevent: null }, event),
  ),
  ofEvent("ticket_layout", { id: 1, name: "Plain", default: true, layout: [] }, event),
  ...sharedQuotas.flatMap((quota) =>
    Array.from({ length: standingOrders }, (_, at) => recordedOrder(quota, { at, state: "paid" })),
  ),
]);

/** Some places of a quota, at one moment. */
export interface Places {
  readonly quota: number;
  /** `uses`: positions that name a voucher. `counted`: all positions, as boxoffice has counted them. */
  readonly by: "vouchers" | "uses" | "records" | "batches" | "counted";
  /** Of vouchers and uses. */
  readonly voucher: number | null;
  /** Of positions. */
  readonly takenAs: "paid" | "pending" | null;
  readonly places: number;
}

/** Reads all places at one moment: of vouchers from the ledger, and of positions from orders. Each quota has one product. */
export function readPlaces(db: Db): Promise<Places[]> {
  return db.many<Places>(sql`
    with claim as materialized (
      select voucher_claim.id as voucher, coalesce(voucher_claim.quota, voucher_claim.item) as quota,
             case when voucher_claim.blocks then voucher_claim.max_usages else 0 end as usages
        from boxoffice.voucher_claim
       where voucher_claim.event = ${event}
         and voucher_claim.max_usages is not null
         and (voucher_claim.valid_until_at is null or voucher_claim.valid_until_at >= now())
       union all
      select held_claim.voucher, coalesce(held_claim.quota, held_claim.item), held_claim.usages
        from boxoffice.held_claim
       where held_claim.event = ${event}
         and (held_claim.valid_until_at is null or held_claim.valid_until_at >= now())
    )
    select claim.quota, 'vouchers' as by, claim.voucher, null as "takenAs",
           max(greatest(claim.usages - greatest(coalesce(used.recorded_uses + used.uses, 0), 0), 0)) as places
      from claim
      left join boxoffice.voucher_claim as used
        on used.organizer = 'bigevents' and used.event = ${event} and used.id = claim.voucher
     group by claim.quota, claim.voucher
     union all
    select position.item,
           case when sold_ticket.position is not null then 'batches' when position.voucher is null then 'records' else 'uses' end,
           position.voucher, case when "order".status = 'p' then 'paid' else 'pending' end, count(*)
      from boxoffice.position
      join boxoffice."order"
        on "order".organizer = position.organizer
           and "order".event = position.event
           and "order".code = position.order_code
      left join boxoffice.sold_ticket
        on sold_ticket.organizer = position.organizer
           and sold_ticket.event = position.event
           and sold_ticket.position = position.id
     where position.event = ${event}
       and not position.canceled
       and "order".status in ('p', 'n')
     group by 1, 2, 3, 4
     union all
    select taken_capacity.item, 'counted', null, taken_capacity.taken_as, taken_capacity.positions
      from boxoffice.taken_capacity
     where taken_capacity.event = ${event}
       and taken_capacity.positions <> 0`);
}

export function sumPlaces(
  places: readonly Places[],
  wanted: Partial<Omit<Places, "by" | "places">> & { readonly by: readonly Places["by"][] },
): number {
  const { by, ...rest } = wanted;
  const names = Object.keys(rest) as (keyof typeof rest)[];
  return places
    .filter((each) => by.includes(each.by) && names.every((name) => each[name] === rest[name]))
    .reduce((sum, each) => sum + each.places, 0);
}

const open = ["uses", "records", "batches"] as const;

/** How many places a quota has left. */
export function leftOf({ id, size }: (typeof sharedQuotas)[number], places: readonly Places[]): number {
  return size - sumPlaces(places, { quota: id, by: ["vouchers", ...open] });
}

/**
 * Judges one moment; returns each contradiction. Records are never refused, so those that come and go may overbook. All else
 * was granted beside the orders that stay, and a use takes over a place of its voucher.
 */
export function judgePlaces(places: readonly Places[], { standing = standingOrders } = {}): string[] {
  const overbooked = sharedQuotas.flatMap(({ id, size }) => {
    const granted = sumPlaces(places, { quota: id, by: ["vouchers", "uses", "batches"] });
    return granted > size - standing
      ? [`${granted} places of ${size} were granted beside ${standing} of quota ${id}`]
      : [];
  });
  const miscounted = [...sharedQuotas.map(({ id }) => id), soldItem].flatMap((quota) =>
    (["paid", "pending"] as const).flatMap((takenAs) => {
      const counted = sumPlaces(places, { quota, takenAs, by: ["counted"] });
      const there = sumPlaces(places, { quota, takenAs, by: open });
      return counted === there
        ? []
        : [`${counted} ${takenAs} positions of quota ${quota} are counted, and ${there} are there`];
    }),
  );
  return [...overbooked, ...miscounted];
}
