import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, type InputOf, rowsAs, text } from "@tessera/kit/pg/table";
import type { Scope } from "../domain/scope.ts";

export interface StoredSale {
  readonly requestHash: Uint8Array;
  /** An encoded SellTicketsResponse. */
  readonly answer: Uint8Array;
  readonly isCanceled: boolean;
}

export function findSale(db: Queryable, { organizer, event }: Scope, id: string): Promise<StoredSale | undefined> {
  return db.maybeOne<StoredSale>(sql`
    select sale.request_hash as "requestHash", sale.answer, sale.canceled_at is not null as "isCanceled"
      from sale
     where sale.organizer = ${organizer}
       and sale.event = ${event}
       and sale.id = ${id}::uuid`);
}

/** Stores a sale, in the transaction that makes its orders. */
export async function storeSale(
  tx: Tx,
  { organizer, event }: Scope,
  { id, requestHash, answer }: Pick<StoredSale, "requestHash" | "answer"> & { readonly id: string },
): Promise<void> {
  await tx.run(sql`
    insert into sale (organizer, event, id, request_hash, answer)
    values (${organizer}, ${event}, ${id}::uuid, ${requestHash}, ${answer})`);
}

export async function markCanceled(tx: Tx, { organizer, event }: Scope, id: string): Promise<void> {
  await tx.run(sql`
    update sale
       set canceled_at = clock_timestamp()
     where sale.organizer = ${organizer}
       and sale.event = ${event}
       and sale.id = ${id}::uuid`);
}

const ticketColumns = { position: bigint, orderCode: text, secret: text, pseudonymizationId: text };

/** Notes tickets as made here. False: another transaction has taken one of their pseudonyms. */
export async function storeTickets(
  tx: Tx,
  { organizer, event }: Scope,
  tickets: readonly InputOf<typeof ticketColumns>[],
): Promise<boolean> {
  const stored = await tx.run(sql`
    insert into sold_ticket (organizer, event, position, order_code, secret, pseudonymization_id)
    select ${organizer}, ${event}, ticket.position, ticket.order_code, ticket.secret, ticket.pseudonymization_id
      from ${rowsAs("ticket", ticketColumns, tickets)}
        on conflict do nothing`);
  return stored === tickets.length;
}

/** Draws ids of positions, from a range that no record may use. */
export async function drawPositionIds(tx: Tx, count: number): Promise<number[]> {
  const rows = await tx.many<{ id: number }>(sql`
    select nextval('sold_position_id_seq') as id
      from generate_series(1, ${count}::integer)`);
  return rows.map(({ id }) => id);
}

export async function findCodesMadeHere(
  db: Queryable,
  organizer: string,
  codes: readonly string[],
): Promise<Set<string>> {
  const found = await db.many<{ code: string }>(sql`
    select sold_ticket.order_code as code
      from sold_ticket
     where sold_ticket.organizer = ${organizer}
       and sold_ticket.order_code = any(${codes}::text[])`);
  return new Set(found.map(({ code }) => code));
}

/** Finds which of these codes belong to any order of the organizer. */
export async function findTakenCodes(tx: Tx, { organizer }: Scope, codes: readonly string[]): Promise<Set<string>> {
  const found = await tx.many<{ code: string }>(sql`
    select "order".code
      from "order"
     where "order".organizer = ${organizer}
       and "order".code = any(${codes}::text[])`);
  return new Set([...(await findCodesMadeHere(tx, organizer, codes)), ...found.map(({ code }) => code)]);
}

/** Finds which of these secrets a ticket of the event has, or a ticket of the organizer that was made here. */
export async function findTakenSecrets(
  tx: Tx,
  { organizer, event }: Scope,
  secrets: readonly string[],
): Promise<Set<string>> {
  // Only this whole expression uses the index of secrets.
  const keys = secrets.map((secret) => `${organizer}/${event}/${secret}`);
  const found = await tx.many<{ secret: string }>(sql`
    select named.secret
      from unnest(${keys}::text[]) as wanted (ticket)
     cross join lateral (select position.secret
                           from position
                          where (position.organizer || '/' || position.event || '/' || position.secret) = wanted.ticket
                          limit 1) as named
     union all
    select sold_ticket.secret
      from sold_ticket
     where sold_ticket.organizer = ${organizer}
       and sold_ticket.secret = any(${secrets}::text[])`);
  return new Set(found.map(({ secret }) => secret));
}

/** Finds which of these pseudonyms tickets made here have, of all organizers. */
export async function findTakenPseudonyms(tx: Tx, _scope: Scope, pseudonyms: readonly string[]): Promise<Set<string>> {
  const found = await tx.many<{ pseudonym: string }>(sql`
    select sold_ticket.pseudonymization_id as pseudonym
      from sold_ticket
     where sold_ticket.pseudonymization_id = any(${pseudonyms}::text[])`);
  return new Set(found.map(({ pseudonym }) => pseudonym));
}

/** The documents of what may be sold. */
export interface OfferDocuments<Event, Settings, Item, Subevent, TaxRule, Category> {
  readonly event: Event;
  /** Without defaults: those are not stored. */
  readonly settings: Partial<Settings>;
  readonly item: Item | null;
  readonly subevent: Subevent | null;
  /** Of the item. */
  readonly taxRule: TaxRule | null;
  /** Of the item. */
  readonly category: Category | null;
  readonly knowsChannel: boolean;
}

/** Reads the offer of an event for a sale; undefined: there is no such event. */
export function readOffer<Event, Settings, Item, Subevent, TaxRule, Category>(
  db: Queryable,
  { organizer, event }: Scope,
  wanted: { readonly item: number; readonly subevent: number | null; readonly salesChannel: string },
): Promise<OfferDocuments<Event, Settings, Item, Subevent, TaxRule, Category> | undefined> {
  return db.maybeOne(sql`
    select event.data as event, event.settings, item.data as item, subevent.data as subevent, tax_rule.data as "taxRule",
           category.data as category,
           sales_channel.identifier is not null as "knowsChannel"
      from event
      left join item
        on item.organizer = event.organizer and item.event = event.slug and item.id = ${wanted.item}
      left join subevent
        on subevent.organizer = event.organizer and subevent.event = event.slug and subevent.id = ${wanted.subevent}
      left join tax_rule
        on tax_rule.organizer = event.organizer
           and tax_rule.event = event.slug
           and tax_rule.id = (item.data ->> 'tax_rule')::bigint
      left join category
        on category.organizer = event.organizer
           and category.event = event.slug
           and category.id = (item.data ->> 'category')::bigint
      left join sales_channel
        on sales_channel.organizer = event.organizer and sales_channel.identifier = ${wanted.salesChannel}
     where event.organizer = ${organizer}
       and event.slug = ${event}
       and not event.is_removed`);
}

/** An order and the changes of its document. */
export interface Cancelation {
  readonly codes: readonly string[];
  /** In the format of documents. */
  readonly at: string;
}

/** Cancels these orders, if they are not canceled yet, and returns their codes. */
export async function cancelOrders(tx: Tx, { organizer, event }: Scope, { codes, at }: Cancelation): Promise<string[]> {
  const canceled = await tx.many<{ code: string }>(sql`
    update "order"
       set status = 'c',
           data = "order".data || jsonb_build_object('status', 'c', 'cancellation_date', ${at}::text, 'last_modified', ${at}::text),
           revision = nextval('revision_seq'),
           changed_at = clock_timestamp()
     where "order".organizer = ${organizer}
       and "order".event = ${event}
       and "order".code = any(${codes}::text[])
       and "order".status <> 'c'
    returning "order".code`);
  return canceled.map(({ code }) => code);
}
