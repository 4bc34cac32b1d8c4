import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { PastCheckin } from "../domain/past-scan.ts";
import type { Presence, ScanType } from "../domain/presence.ts";
import type { KeptAnswer } from "../domain/questions/kept-answer.ts";
import type { RuledScan } from "../domain/rules/judge-rules.ts";
import type { ItemAtGate } from "../domain/ticket.ts";

/** A ticket as scans, listings and searches read it. */
export interface TicketRead {
  /** Encoded. */
  readonly state: Uint8Array;
  /** Of the ticket that this one is an add-on of, where its name may be needed; encoded. */
  readonly parentState: Uint8Array | null;
  readonly item: ItemRead;
  /** On the list. */
  readonly presence: Presence;
  /** The newest `mostCheckins`, newest first. */
  readonly checkins: readonly PastCheckin[];
  /** What rules ask of its scans; empty where it was not read. */
  readonly ruled: readonly RuledScan[];
  /** The answers that it was given at gates. */
  readonly given: readonly Pick<KeptAnswer, "revision" | "state">[];
}

interface ItemRead extends ItemAtGate {
  readonly variationText: string | null;
  readonly itemText: string | null;
}

/** How much of a ticket's history on a list is shown; `checkins/` has all of it. */
export const mostCheckins = 100;

/** How many scans of one ticket on one list rules look at. A crew pass has some thousand. */
export const mostRuledScans = 10_000;

export interface TicketRow {
  state: Buffer;
  parent_state: Buffer | null;
  admission: boolean | null;
  generate_tickets: boolean | null;
  checkin_attention: boolean | null;
  checkin_text: string | null;
  variation_attention: boolean | null;
  variation_text: string | null;
  version: number | null;
  entries: number | null;
  last_type: ScanType | null;
  last_at: number | null;
  checkins: PastCheckin[] | null;
  ruled_at: number[] | null;
  ruled_types: ScanType[] | null;
  given_revisions: number[] | null;
  given_states: Buffer[] | null;
}

/** The columns of a TicketRow, from the tables that `joinedTo` joins. */
export const ticketColumns = sql`
  ticket.state, parent.state as parent_state,
  item.admission, item.generate_tickets, item.checkin_attention, item.checkin_text,
  variation.attention as variation_attention, variation.text as variation_text,
  presence.version, presence.entries, presence.last_type, presence.last_at, history.checkins,
  ruled.at as ruled_at, ruled.types as ruled_types,
  given.revisions as given_revisions, given.states as given_states`;

/** The dates that count for `ticket`: those of its `subevent`, else of the `event`. */
export const ticketDates = sql`
  case when ticket.subevent is null then event.date_from_at else subevent.date_from_at end as date_from,
  case when ticket.subevent is null then event.date_to_at else subevent.date_to_at end as date_to,
  case when ticket.subevent is null then event.date_admission_at else subevent.date_admission_at end as date_admission`;

/** The newest successful scans of a `presence`, newest first, straight from the index of them. */
export function newestScans({ list, most }: { readonly list: Sql; readonly most: number }): Sql {
  const ticket = sql`${list}, presence.event, presence.organizer, true`;
  return sql`
          select scan.id, scan.at, scan.type, scan.gate, scan.device, scan.device_id, scan.auto_checked_in
            from scan
           where (scan.position, scan.list, scan.event, scan.organizer, scan.successful) >= (presence.position, ${ticket})
             and (scan.position, scan.list, scan.event, scan.organizer, scan.successful) <= (presence.position, ${ticket})
           order by scan.position desc, scan.list desc, scan.event desc, scan.organizer desc, scan.successful desc,
                    scan.at desc, scan.id desc
           limit ${most}`;
}

/**
 * Joins what is shown of `ticket` (a position, or columns of one) on a list: the ticket that it is an add-on of, if its
 * own name is missing; its item and variation; its presence with the newest scans of it; and its answers of gates. Where
 * `hasRules`, also what rules ask of its scans.
 */
export function joinedTo({ list, hasRules }: { readonly list: Sql; readonly hasRules: Sql }): Sql {
  return sql`
      left join position as parent
        on parent.organizer = ticket.organizer and parent.event = ticket.event and parent.id = ticket.addon_to
           and coalesce(ticket.attendee_name, '') = ''
      left join item
        on item.organizer = ticket.organizer and item.event = ticket.event and item.id = ticket.item
      left join lateral (
        select (element ->> 'checkinAttention')::boolean as attention, element ->> 'checkinText' as text
          from jsonb_array_elements(item.variations) as element
         where (element ->> 'id')::bigint = ticket.variation
      ) as variation on ticket.variation is not null
      left join presence
        on presence.organizer = ticket.organizer and presence.event = ticket.event
           and presence.position = ticket.id and presence.list = ${list}
      left join lateral (
        select json_agg(json_build_object(
                 'id', scan.id, 'at', (extract(epoch from scan.at) * 1000000)::bigint, 'type', scan.type, 'gate', scan.gate,
                 'device', scan.device, 'deviceId', scan.device_id, 'autoCheckedIn', scan.auto_checked_in)
                 order by scan.at desc, scan.id desc) as checkins
          from (${newestScans({ list, most: mostCheckins })}) as scan
      ) as history on presence.version is not null
      left join lateral (
        select array_agg(scan.at order by scan.at desc, scan.id desc) as at,
               array_agg(scan.type order by scan.at desc, scan.id desc) as types
          from (${newestScans({ list, most: mostRuledScans })}) as scan
      ) as ruled on presence.version is not null and ${hasRules}
      left join lateral (
        select array_agg(given_answer.revision) as revisions, array_agg(given_answer.state) as states
          from given_answer
         where given_answer.organizer = ticket.organizer
           and given_answer.event = ticket.event
           and given_answer.position = ticket.id
      ) as given on true`;
}

export function toTicketRead(row: TicketRow): TicketRead {
  return {
    state: row.state,
    parentState: row.parent_state,
    item: {
      // An item that has not arrived yet is an ordinary ticket.
      admission: row.admission ?? true,
      generateTickets: row.generate_tickets,
      attention: row.checkin_attention === true || row.variation_attention === true,
      variationText: row.variation_text,
      itemText: row.checkin_text,
    },
    presence: {
      version: row.version ?? 0,
      entries: row.entries ?? 0,
      last: row.last_type === null || row.last_at === null ? null : { type: row.last_type, at: row.last_at },
    },
    checkins: row.checkins ?? [],
    ruled: (row.ruled_at ?? []).map((at, index) => ({ at, type: row.ruled_types?.[index] ?? "entry" })),
    given: (row.given_states ?? []).map((state, index) => ({ revision: row.given_revisions?.[index] ?? 0, state })),
  };
}
