import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { withKey } from "@tessera/kit/pg/with-key";
import type { Scope } from "../domain/scope.ts";
import { gateAnswersOf, gateBytesOf } from "./gate-answer-rows.ts";
import type { StoredPosition } from "./positions.ts";
import { orderWithCode } from "./stored-orders.ts";

/** An order as it is stored. */
export interface StoredOrder {
  readonly code: string;
  /** Without fields that are null, and without scans. */
  readonly data: StoredOrderData;
  readonly changedAt: number;
}

/** The fields of a document that are read here. */
export interface StoredOrderData {
  readonly status: string;
  readonly valid_if_pending: boolean;
  readonly require_approval: boolean;
  readonly fees: readonly { readonly canceled: boolean }[];
  readonly positions: readonly {
    readonly id: number;
    readonly item: number;
    readonly canceled: boolean;
    readonly answers?: unknown;
  }[];
}

/** Reads the first of these orders, up to `mostBytes` together, and the first in any case. */
export async function readOrders(
  db: Queryable,
  scope: Scope,
  { codes, mostBytes }: { readonly codes: readonly string[]; readonly mostBytes: number },
): Promise<StoredOrder[]> {
  const order = orderWithCode(scope, {
    code: sql`wanted.code`,
    columns: sql`"order".code, "order".data - 'unread' as data, "order".changed_at`,
  });
  return db.many<StoredOrder>(sql`
    select sized.code, sized.data, sized.changed_at as "changedAt"
      from (select wanted.place, "order".code, "order".data, "order".changed_at,
                   sum(octet_length("order".data::text)) over (order by wanted.place) as bytes
              from unnest(${codes}::text[]) with ordinality as wanted (code, place)
             cross join lateral (${order}) as "order") as sized
     where sized.place = 1
        or sized.bytes <= ${mostBytes}
     order by sized.place`);
}

/** The codes that a typed one may mean: people type them in small letters. */
export function spellingsOf(code: string): readonly string[] {
  return [...new Set([code, code.toUpperCase()])];
}

/** Finds the code of an order: the one that is meant, else its spelling in capitals. */
export async function findCode(db: Queryable, scope: Scope, code: string): Promise<string | undefined> {
  const found = await db.maybeOne<{ code: string }>(sql`
    select "order".code
      from "order"
     where "order".organizer = ${scope.organizer}
       and "order".event = ${scope.event}
       and "order".code = any(${spellingsOf(code)}::text[])
     order by "order".code = ${code} desc
     limit 1`);
  return found?.code;
}

/** What orders show of their positions beside their documents. */
export interface PositionState extends Pick<StoredPosition, "id" | "state" | "gate"> {
  /** The answers of gates were left out: those of the record may no longer hold. */
  readonly isCut: boolean;
}

/**
 * Reads the states of positions, in the order of these: of the first `least`, and further ones up to `mostBytes` together. Of
 * the first `least` the answers of gates are left out behind `mostBytes` of them.
 */
export async function readStatesOf(
  db: Queryable,
  { organizer, event }: Scope,
  { ids, least, mostBytes }: { readonly ids: readonly number[]; readonly least: number; readonly mostBytes: number },
): Promise<Map<number, PositionState>> {
  if (ids.length === 0) return new Map();
  const rows = await db.many<PositionState>(sql`
    select sized.id, sized.state, case when sized.given <= ${mostBytes} then ${gateAnswersOf(sql`sized`)} end as gate,
           sized.given > ${mostBytes} as "isCut"
      from (select wanted.place, position.organizer, position.event, position.id, position.state, position.answers_revision,
                   sum(octet_length(position.state) + given.bytes) over (order by wanted.place) as bytes,
                   sum(given.bytes) over (order by wanted.place) as given
              from unnest(${ids}::bigint[]) with ordinality as wanted (id, place)
             cross join lateral (
               select position.organizer, position.event, position.id, position.state, position.answers_revision
                 from position
                where ${withKey(sql`position.organizer, position.event, position.id`, sql`${organizer}, ${event}, wanted.id`)}
                limit 1) as position
             cross join lateral (${gateBytesOf(sql`position`)}) as given) as sized
     where sized.place <= ${least}
        or sized.bytes <= ${mostBytes}`);
  return new Map(rows.map((row) => [row.id, row]));
}

/** What decides whether an item has tickets. */
export interface TicketItem {
  readonly id: number;
  readonly admission: boolean;
  readonly generateTickets: boolean | null;
}

export async function readItems(
  db: Queryable,
  { organizer, event }: Scope,
  ids: readonly number[],
): Promise<ReadonlyMap<number, TicketItem>> {
  const rows = await db.many<TicketItem>(sql`
    select item.id, (item.data ->> 'admission')::boolean as admission,
           (item.data ->> 'generate_tickets')::boolean as "generateTickets"
      from item
     where item.organizer = ${organizer}
       and item.event = ${event}
       and item.id = any(${ids}::bigint[])`);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Which positions of an event are wanted. */
export interface PositionFilter extends Scope {
  /** The code of their order, as it is or in small letters. */
  readonly order?: string | undefined;
  readonly secret?: string | undefined;
  readonly item?: number | undefined;
  readonly subevent?: number | undefined;
  readonly withCanceled: boolean;
}

function matching({ organizer, event, order, secret, item, subevent, withCanceled }: PositionFilter): Sql {
  const conditions = [sql`position.organizer = ${organizer}`, sql`position.event = ${event}`];
  const say = (condition: Sql) => void conditions.push(condition);
  if (!withCanceled) say(sql`not position.canceled`);
  if (item !== undefined) say(sql`position.item = ${item}`);
  if (subevent !== undefined) say(sql`position.subevent = ${subevent}`);
  if (secret !== undefined) {
    say(
      sql`position.organizer || '/' || position.event || '/' || position.secret = ${`${organizer}/${event}/${secret}`}`,
    );
    say(sql`position.secret = ${secret}`);
  }
  if (order !== undefined) {
    say(sql`position.id in (
         select element.id::bigint
           from "order"
          cross join lateral jsonb_path_query("order".data, '$.positions[*].id') as element (id)
          where "order".organizer = ${organizer}
            and "order".event = ${event}
            and "order".code = any(${spellingsOf(order)}::text[]))`);
  }
  return joinSql(conditions, "\n       and ");
}

export async function countPositions(db: Queryable, filter: PositionFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`select count(*) as count from position where ${matching(filter)}`,
  );
  return count;
}

/** A position, and its order. */
export interface PlacedPosition {
  readonly id: number;
  readonly order: string;
}

/** Finds a page of positions, by their ids. */
export function pagePositions(
  db: Queryable,
  filter: PositionFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<PlacedPosition[]> {
  return db.many<PlacedPosition>(sql`
    select position.id, position.order_code as order
      from position
     where ${matching(filter)}
     order by position.id
     limit ${limit}
    offset ${offset}`);
}

export function findPosition(
  db: Queryable,
  { organizer, event, id }: Scope & { readonly id: number },
): Promise<(PlacedPosition & { readonly canceled: boolean }) | undefined> {
  return db.maybeOne(sql`
    select position.id, position.order_code as order, position.canceled
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = ${id}`);
}
