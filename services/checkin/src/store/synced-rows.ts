import type { OrderStatus, ScanType } from "@tessera/admission";
import type { Queryable } from "@tessera/kit/pg/database";
import { inMicroseconds } from "@tessera/kit/pg/instants";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, rowsAs, text } from "@tessera/kit/pg/table";
import { isPlacedIn, withKey } from "@tessera/kit/pg/with-key";
import type { EventKey } from "./keys.ts";
import { mostCheckins, newestScans } from "./ticket-rows.ts";

/** What belongs to one event and has an id there; the order is that of the first copy. */
export const kindsOfEvents = ["event", "subevent", "item", "question", "list", "revoked", "blocked", "ticket"] as const;

export type KindOfEvents = (typeof kindsOfEvents)[number];

interface Synced {
  readonly event: string;
  /** Of the event itself 0. */
  readonly id: number;
}

export interface RowOfKind {
  readonly event: Synced & {
    readonly name: object;
    readonly timezone: string;
    readonly locale: string;
    readonly has_subevents: boolean;
    readonly date_from: number | null;
    readonly date_to: number | null;
    readonly date_admission: number | null;
    readonly ticket_keys: readonly string[] | null;
    readonly reusable_media_usage_enforced: boolean;
  };
  readonly subevent: DocumentRow;
  readonly item: DocumentRow;
  readonly question: DocumentRow;
  readonly list: Synced & {
    readonly name: string;
    readonly all_products: boolean;
    readonly limit_products: readonly number[];
    readonly subevent: number | null;
    readonly include_pending: boolean;
    readonly allow_multiple_entries: boolean;
    readonly allow_entry_after_exit: boolean;
    readonly rules: string;
    readonly exit_all_at: number | null;
    readonly addon_match: boolean;
    readonly ignore_in_statistics: boolean;
    readonly consider_tickets_used: boolean;
    readonly soft_limit: number | null;
    readonly hard_limit: number | null;
    readonly takes_from: readonly number[];
  };
  readonly revoked: Synced & { readonly secret: string; readonly ticket: number | null };
  readonly blocked: Synced & { readonly secret: string; readonly blocked: boolean };
  readonly ticket: Synced & {
    readonly positionid: number;
    readonly order_code: string;
    readonly item: number;
    readonly variation: number | null;
    readonly subevent: number | null;
    readonly addon_to: number | null;
    readonly secret: string;
    readonly order_status: OrderStatus;
    readonly valid_if_pending: boolean;
    readonly require_approval: boolean;
    readonly canceled: boolean;
    readonly blocked: boolean;
    readonly valid_from: number | null;
    readonly valid_until: number | null;
    readonly pseudonymization_id: string | null;
    readonly state: Buffer;
  };
}

/** With the JSON text of the resource. */
type DocumentRow = Synced & { readonly document: string };

export interface PresenceRow {
  readonly event: string;
  readonly position: number;
  readonly list: number;
  readonly entries: number;
  readonly last_type: ScanType | null;
  readonly last_at: number | null;
  /** Newest first. */
  readonly scans: readonly (readonly [at: number, type: ScanType, gate: number | null, device: number | null])[] | null;
}

export interface MediumRow {
  readonly id: number;
  readonly type: string;
  readonly identifier: string;
  readonly active: boolean;
  readonly expires: number | null;
  readonly tickets: readonly { readonly event: string; readonly id: number }[];
}

const documents = (table: Sql) => ({ table, columns: sql`held.event, held.id, held.document::text as document` });

const tables: Readonly<Record<KindOfEvents, { readonly table: Sql; readonly columns: Sql }>> = {
  event: {
    table: sql`event`,
    columns: sql`
      held.event, 0::bigint as id, held.name, held.timezone, held.locale, held.has_subevents, held.ticket_keys,
      held.reusable_media_usage_enforced, ${inMicroseconds(sql`held.date_from_at`)} as date_from,
      ${inMicroseconds(sql`held.date_to_at`)} as date_to, ${inMicroseconds(sql`held.date_admission_at`)} as date_admission`,
  },
  subevent: documents(sql`subevent`),
  item: documents(sql`item`),
  question: documents(sql`question`),
  list: {
    table: sql`list`,
    columns: sql`
      held.event, held.id, held.name, held.all_products, held.limit_products, held.subevent, held.include_pending,
      held.allow_multiple_entries, held.allow_entry_after_exit, held.rules, ${inMicroseconds(sql`held.exit_all_at`)} as exit_all_at,
      held.addon_match, held.ignore_in_statistics, held.consider_tickets_used, held.soft_limit, held.hard_limit,
      held.takes_from`,
  },
  revoked: { table: sql`revoked_secret`, columns: sql`held.event, held.id, held.secret, held.position as ticket` },
  blocked: { table: sql`blocked_secret`, columns: sql`held.event, held.id, held.secret, held.blocked` },
  ticket: {
    table: sql`position`,
    columns: sql`
      held.event, held.id, held.positionid, held.order_code, held.item, held.variation, held.subevent, held.addon_to, held.secret,
      held.order_status, held.valid_if_pending, held.require_approval, held.canceled, held.blocked,
      ${inMicroseconds(sql`held.valid_from_at`)} as valid_from, ${inMicroseconds(sql`held.valid_until_at`)} as valid_until,
      held.pseudonymization_id, held.state`,
  },
};

/**
 * The first event of an organizer behind this one with any entity. Entities may exist while their event does not, and no change
 * names them when the event comes back.
 */
export async function findEventBehind(
  db: Queryable,
  { organizer, after }: { readonly organizer: string; readonly after: string },
): Promise<string | undefined> {
  const first = kindsOfEvents.map((kind) => {
    const [key, last] = kind === "event" ? [sql``, sql``] : [sql`, held.id`, sql`, 9223372036854775807`];
    return sql`
      (select held.event
         from ${tables[kind].table} as held
        where (held.organizer, held.event${key}) > (${organizer}, ${after}${last})
          and held.organizer <= ${organizer}
        order by held.organizer, held.event${key}
        limit 1)`;
  });
  const { event } = await db.one<{ event: string | null }>(
    sql`select min(found.event) as event from (${joinSql(first, " union all ")}) as found`,
  );
  return event ?? undefined;
}

const wantedColumns = { event: text, id: bigint };

export async function readSynced<K extends KindOfEvents>(
  db: Queryable,
  kind: K,
  { organizer, keys }: { readonly organizer: string; readonly keys: readonly Synced[] },
): Promise<RowOfKind[K][]> {
  if (keys.length === 0) return [];
  const { table, columns } = tables[kind];
  if (kind === "event") {
    return db.many(sql`
    select ${columns}
      from ${table} as held
     where held.organizer = ${organizer}
       and held.event = any(${keys.map(({ event }) => event)}::text[])`);
  }
  return db.many(sql`
    with found as (
      select here.ctid
        from ${rowsAs("wanted", wantedColumns, keys)}
       cross join lateral (
         select held.ctid
           from ${table} as held
          where ${withKey(sql`held.organizer, held.event, held.id`, sql`${organizer}, wanted.event, wanted.id`)}
          limit 1) as here
    )
    select ${columns}
      from ${table} as held
     where ${isPlacedIn(sql`held`, sql`found`)}`);
}

/** Reads the next entities of an event, in the order of their ids. */
export async function readSyncedBehind<K extends KindOfEvents>(
  db: Queryable,
  kind: K,
  { organizer, event, after, most }: EventKey & { readonly after: number; readonly most: number },
): Promise<RowOfKind[K][]> {
  if (kind === "event") return after < 0 ? readSynced(db, kind, { organizer, keys: [{ event, id: 0 }] }) : [];
  const { table, columns } = tables[kind];
  return db.many(sql`
    select ${columns}
      from ${table} as held
     where held.organizer = ${organizer}
       and held.event = ${event}
       and held.id > ${after}
     order by held.organizer, held.event, held.id
     limit ${most}`);
}

const shownScan = sql`json_build_array(${inMicroseconds(sql`scan.at`)}, scan.type, scan.gate, scan.device_id)`;

/** Nearly every presence is of one scan; to sort one costs more than to find it. */
const presenceColumns = sql`
           presence.event, presence.position, presence.list, presence.entries, presence.last_type,
           ${inMicroseconds(sql`presence.last_at`)} as last_at,
           case when presence.version = 1 then (
                  select json_build_array(${shownScan})
                    from (${newestScans({ list: sql`presence.list`, most: sql`1` })}) as scan)
                else (
                  select json_agg(${shownScan} order by scan.at desc, scan.id desc)
                    from (${newestScans({ list: sql`presence.list`, most: sql`${mostCheckins}` })}) as scan)
                end as scans`;

/** What a presence is to be read for: its line, and each scan on it. */
const weight = sql`1 + least(found.version, ${mostCheckins})`;

/** Presences of the first keys of many. */
export interface FirstPresences {
  readonly presences: PresenceRow[];
  /** How many keys these are of. */
  readonly read: number;
}

/** `total` is the weight of this presence and of all keys before it. */
type WeighedRow = PresenceRow & { readonly place: number; readonly total: number };

/** The keys behind the last row were read if there was room for more. */
function untilFull(
  rows: readonly WeighedRow[],
  { keys, most }: { keys: readonly unknown[]; most: number },
): FirstPresences {
  const last = rows.at(-1);
  const isFull = last !== undefined && last.total >= most;
  return { presences: [...rows], read: isFull ? last.place + 1 : keys.length };
}

const presenceKey = { place: bigint, event: text, position: bigint, list: bigint };

/** Reads the presences of tickets on lists, in the order of the keys, until they weigh as much as `most`. */
export async function readSyncedPresences(
  db: Queryable,
  {
    organizer,
    keys,
    most,
  }: {
    readonly organizer: string;
    readonly keys: readonly { readonly event: string; readonly position: number; readonly list: number }[];
    readonly most: number;
  },
): Promise<FirstPresences> {
  if (keys.length === 0) return { presences: [], read: 0 };
  const wanted = keys.map((key, place) => ({ place, ...key }));
  const rows = await db.many<WeighedRow>(sql`
    select ${presenceColumns}, presence.place, presence.total
      from (select found.organizer, found.event, found.position, found.list, found.version, found.entries, found.last_type,
                   found.last_at, wanted.place, ${weight} as own, (sum(${weight}) over (order by wanted.place))::bigint as total
              from ${rowsAs("wanted", presenceKey, wanted)}
             cross join lateral (
               select found.organizer, found.event, found.position, found.list, found.version, found.entries,
                      found.last_type, found.last_at
                 from presence as found
                where ${withKey(sql`found.position, found.list, found.event, found.organizer`, sql`wanted.position, wanted.list, wanted.event, ${organizer}`)}
                limit 1) as found) as presence
     where presence.total - presence.own < ${most}
     order by presence.place`);
  return untilFull(rows, { keys, most });
}

/** Reads the presences of tickets, in the order of the tickets, until those of whole tickets weigh as much as `most`. */
export async function readPresencesOfFirst(
  db: Queryable,
  { organizer, keys, most }: { readonly organizer: string; readonly keys: readonly Synced[]; readonly most: number },
): Promise<FirstPresences> {
  if (keys.length === 0) return { presences: [], read: 0 };
  const wanted = keys.map(({ event, id }, place) => ({ place, event, id }));
  const rows = await db.many<WeighedRow>(sql`
    select ${presenceColumns}, presence.place, presence.total
      from (select found.organizer, found.event, found.position, found.list, found.version, found.entries, found.last_type,
                   found.last_at, wanted.place, sum(${weight}) over (partition by wanted.place) as own,
                   (sum(${weight}) over (order by wanted.place))::bigint as total
              from ${rowsAs("wanted", { place: bigint, ...wantedColumns }, wanted)}
             cross join lateral (
               select found.organizer, found.event, found.position, found.list, found.version, found.entries,
                      found.last_type, found.last_at
                 from presence as found
                where ${ofTicket(sql`found.position, found.list`)}
                  and found.event = wanted.event and found.organizer = ${organizer}
                order by found.position, found.list) as found) as presence
     where presence.total - presence.own < ${most}
     order by presence.place, presence.list`);
  return untilFull(rows, { keys, most });
}

export interface GivenRow {
  readonly event: string;
  readonly position: number;
  readonly revision: number;
  readonly state: Buffer;
}

/** Reads all answers that tickets were given at gates. */
export async function readGivenOfTickets(
  db: Queryable,
  { organizer, keys }: { readonly organizer: string; readonly keys: readonly Synced[] },
): Promise<GivenRow[]> {
  if (keys.length === 0) return [];
  return db.many(sql`
    select given.event, given.position, given.revision, given.state
      from ${rowsAs("wanted", wantedColumns, keys)}
     cross join lateral (
       select found.event, found.position, found.revision, found.state
         from given_answer as found
        where ${ofTicket(sql`found.position, found.question`)}
          and found.event = wanted.event and found.organizer = ${organizer}
        order by found.position, found.question) as given`);
}

/** A range of the primary key, whatever statistics say. */
function ofTicket(key: Sql): Sql {
  return sql`(${key}) >= (wanted.id, 0) and (${key}) <= (wanted.id, 9223372036854775807)`;
}

const mediumColumns = sql`
      held.id, held.type, held.identifier, held.active, ${inMicroseconds(sql`held.expires_at`)} as expires,
      held.linked_positions as tickets`;

export function readSyncedMedia(
  db: Queryable,
  { organizer, ids }: { readonly organizer: string; readonly ids: readonly number[] },
): Promise<MediumRow[]> {
  return db.many(sql`
    select ${mediumColumns}
      from reusable_medium as held
     where held.organizer = ${organizer}
       and held.id = any(${ids}::bigint[])`);
}

/** Reads the next media of an organizer, in the order of their ids. */
export function readMediaBehind(
  db: Queryable,
  { organizer, after, most }: { readonly organizer: string; readonly after: number; readonly most: number },
): Promise<MediumRow[]> {
  return db.many(sql`
    select ${mediumColumns}
      from reusable_medium as held
     where held.organizer = ${organizer}
       and held.id > ${after}
     order by held.organizer, held.id
     limit ${most}`);
}
