import type { Presence, RuledScan, ScanType } from "@tessera/admission";
import { inMicroseconds } from "@tessera/kit/pg/instants";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { ItemAtGate } from "../domain/item-at-gate.ts";
import type { KeptAnswer } from "../domain/kept-answer.ts";
import type { PastCheckin } from "../domain/past-scan.ts";
import { presenceByKey } from "./presence-by-key.ts";
import { toPresence } from "./presences.ts";

/** A ticket as scans, listings and searches read it. */
export interface TicketRead {
  readonly state: Uint8Array;
  /** The encoded base ticket, where its name may be needed. */
  readonly parentState: Uint8Array | null;
  readonly item: ItemRead;
  readonly presence: Presence;
  /** The newest `mostCheckins`, newest first. */
  readonly checkins: readonly PastCheckin[];
  /** The scans that rules ask about; empty where they were not read. */
  readonly ruled: readonly RuledScan[];
  readonly given: readonly Pick<KeptAnswer, "revision" | "state">[];
}

interface ItemRead extends ItemAtGate {
  readonly variationText: string | null;
  readonly itemText: string | null;
}

/** The most scans of a ticket that a list shows; `checkins/` has all of them. */
export const mostCheckins = 100;

/** The most scans of one ticket on one list that rules look at. A crew pass has some thousand. */
export const mostRuledScans = 10_000;

export interface TicketRow {
  state: Buffer;
  parent_state: Buffer | null;
  admission: boolean | null;
  generate_tickets: boolean | null;
  checkin_attention: boolean | null;
  checkin_text: string | null;
  /** The item's variation, as JSON. */
  variation: { readonly checkinAttention?: boolean | null; readonly checkinText?: string | null } | null;
  version: number | null;
  entries: number | null;
  last_type: ScanType | null;
  last_at: number | null;
  /** Newest first: scans that are shown, then scans that only rules look at. */
  history: (ShownScan | RuledOnly)[] | null;
  is_ruled: boolean;
  given_revisions: number[] | null;
  given_states: Buffer[] | null;
}

/** Tuples are smaller than objects: a ticket may have thousands of scans. */
type RuledOnly = [at: number, type: ScanType];
type ShownScan = [
  at: number,
  type: ScanType,
  id: number,
  gate: number | null,
  device: number | null,
  deviceId: number | null,
  autoCheckedIn: boolean,
];

/**
 * The columns of a TicketRow, from the tables that `joinedTo` joins. Most tickets have neither a scan nor a variation:
 * `case` skips those subqueries. With `hasRules`, all scans that rules look at are read.
 */
export const ticketColumns = ({ list, hasRules }: { readonly list: Sql; readonly hasRules: Sql }) => sql`
  ticket.state, parent.state as parent_state,
  item.admission, item.generate_tickets, item.checkin_attention, item.checkin_text,
  case when ticket.variation is not null then (
    select element
      from jsonb_array_elements(item.variations) as element
     where (element ->> 'id')::bigint = ticket.variation
     limit 1) end as variation,
  presence.version, presence.entries, presence.last_type, presence.last_at, ${hasRules} as is_ruled,
  case when presence.version is not null then (
    select json_agg(case when scan.place <= ${mostCheckins}
                         then json_build_array(${inMicroseconds(sql`scan.at`)}, scan.type, scan.id, scan.gate, scan.device,
                                               scan.device_id, scan.auto_checked_in)
                         else json_build_array(${inMicroseconds(sql`scan.at`)}, scan.type) end
                    order by scan.place)
      from (select newest.id, newest.at, newest.type, newest.gate, newest.device, newest.device_id, newest.auto_checked_in,
                   row_number() over (order by newest.at desc, newest.id desc) as place
              from (${newestScans({ list, most: sql`case when ${hasRules} then ${mostRuledScans}::bigint else ${mostCheckins}::bigint end` })}) as newest) as scan
  ) end as history,
  given.revisions as given_revisions, given.states as given_states`;

/** The newest successful scans of a `presence`, newest first, by an index scan. `also` are further columns. */
export function newestScans({
  list,
  most,
  also = sql``,
}: {
  readonly list: Sql;
  readonly most: Sql;
  readonly also?: Sql;
}): Sql {
  const ticket = sql`${list}, presence.event, presence.organizer, true`;
  return sql`
          select scan.id, scan.at, scan.type, scan.gate, scan.device, scan.device_id, scan.auto_checked_in${also}
            from scan
           where (scan.position, scan.list, scan.event, scan.organizer, scan.successful) >= (presence.position, ${ticket})
             and (scan.position, scan.list, scan.event, scan.organizer, scan.successful) <= (presence.position, ${ticket})
           order by scan.position desc, scan.list desc, scan.event desc, scan.organizer desc, scan.successful desc,
                    scan.at desc, scan.id desc
           limit ${most}`;
}

/**
 * Joins what a list shows of `ticket` (a position, or columns of one): its base ticket, if its own name is missing; its
 * item; its presence; and its answers from gates.
 */
export function joinedTo({ list }: { readonly list: Sql }): Sql {
  return sql`
      left join position as parent
        on parent.organizer = ticket.organizer and parent.event = ticket.event and parent.id = ticket.addon_to
           and coalesce(ticket.attendee_name, '') = ''
      left join item
        on item.organizer = ticket.organizer and item.event = ticket.event and item.id = ticket.item
      left join lateral (${presenceByKey(sql`ticket.id, ${list}, ticket.event, ticket.organizer`)}) as presence on true
      left join lateral (
        select array_agg(given_answer.revision) as revisions, array_agg(given_answer.state) as states
          from given_answer
         where given_answer.organizer = ticket.organizer
           and given_answer.event = ticket.event
           and given_answer.position = ticket.id
      ) as given on true`;
}

export function toTicketRead(row: TicketRow): TicketRead {
  const { variation, history } = row;
  return {
    state: row.state,
    parentState: row.parent_state,
    item: {
      // An item that has not arrived yet counts as admitting.
      admission: row.admission ?? true,
      generateTickets: row.generate_tickets,
      attention: row.checkin_attention === true || variation?.checkinAttention === true,
      variationText: variation?.checkinText ?? null,
      itemText: row.checkin_text,
    },
    presence: toPresence({ ...row, version: row.version ?? 0, entries: row.entries ?? 0 }),
    checkins: (history ?? []).filter(isShown).map(toCheckin),
    ruled: row.is_ruled ? (history ?? []).map(([at, type]) => ({ at, type })) : [],
    given: (row.given_states ?? []).map((state, index) => ({ revision: row.given_revisions?.[index] ?? 0, state })),
  };
}

function isShown(scan: ShownScan | RuledOnly): scan is ShownScan {
  return scan.length > 2;
}

function toCheckin([at, type, id, gate, device, deviceId, autoCheckedIn]: ShownScan): PastCheckin {
  return { id, at, type, gate, device, deviceId, autoCheckedIn };
}
