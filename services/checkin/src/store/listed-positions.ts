import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { withKey } from "@tessera/kit/pg/with-key";
import type { EventKey } from "./keys.ts";
import { bindPacked, packed, unpack } from "./packed.ts";
import { joinedTo, type TicketRead, type TicketRow, ticketColumns, toTicketRead } from "./ticket-rows.ts";

/** The facts of a ticket that rules may ask for, without its scans. */
export interface RuledTicket {
  readonly id: number;
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
}

/** Reads these facts in the order of the ids. Zero is no variation and no date. */
export async function readRuled(
  db: Queryable,
  { organizer, event }: EventKey,
  ids: readonly number[],
): Promise<RuledTicket[]> {
  const texts = await db.one<Readonly<Record<"ids" | "items" | "variations" | "subevents", string>>>(sql`
    select ${packed(sql`ticket.id`)} as ids, ${packed(sql`ticket.item`)} as items,
           ${packed(sql`coalesce(ticket.variation, 0)`)} as variations,
           ${packed(sql`coalesce(ticket.subevent, 0)`)} as subevents
      from unnest(${bindPacked(ids)}) as asked (id)
     cross join lateral (${positionById({ organizer, event, id: sql`asked.id` })}) as ticket`);
  const [items, variations, subevents] = [unpack(texts.items), unpack(texts.variations), unpack(texts.subevents)];
  const read = unpack(texts.ids).map((id, index): [number, RuledTicket] => [
    id,
    { id, item: items[index] ?? 0, variation: variations[index] || null, subevent: subevents[index] || null },
  ]);
  const found = new Map(read);
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Reads tickets as a list sees them, in the order of the ids; deleted tickets are left out. */
export async function readPositions(
  db: Queryable,
  { organizer, event, list }: EventKey & { readonly list: number },
  ids: readonly number[],
): Promise<TicketRead[]> {
  return ids.length === 0 ? [] : readTickets(db, { organizer, event }, { list, ids: sql`${ids}::bigint[]` });
}

/** Reads the add-ons of tickets as a list sees them, by order; canceled ones are left out. */
export async function readAddons(
  db: Queryable,
  { organizer, event, list }: EventKey & { readonly list: number },
  ids: readonly number[],
): Promise<TicketRead[]> {
  if (ids.length === 0) return [];
  const addons = sql`
             select addon.id
               from position as addon
              where addon.organizer = ${organizer} and addon.event = ${event}
                and addon.addon_to = any(${ids}::bigint[]) and not addon.canceled
              order by addon.positionid, addon.id`;
  return readTickets(db, { organizer, event }, { list, ids: sql`array(${addons})` });
}

export function positionById({ organizer, event, id }: EventKey & { readonly id: Sql }): Sql {
  return sql`
       select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
              position.item, position.variation, position.subevent, position.addon_to, position.secret,
              position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
              position.counted_as, position.attendee_name, position.sort_name, position.order_email,
              position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
         from position
        where ${withKey(sql`position.organizer, position.event, position.id`, sql`${organizer}, ${event}, ${id}`)}
        limit 1`;
}

async function readTickets(
  db: Queryable,
  { organizer, event }: EventKey,
  { list, ids }: { readonly list: number; readonly ids: Sql },
): Promise<TicketRead[]> {
  const rows = await db.many<TicketRow>(sql`
    select ${ticketColumns({ list: sql`${list}`, hasRules: sql`false` })}
      from unnest(${ids}) with ordinality as paged (id, place)
     cross join lateral (${positionById({ organizer, event, id: sql`paged.id` })}) as ticket
      ${joinedTo({ list: sql`${list}` })}
     order by paged.place`);
  return rows.map(toTicketRead);
}
