import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { FoundBy } from "../domain/decide-scan.ts";
import type { DownloadSettings } from "../domain/downloads.ts";
import type { AdmissionTerms } from "../domain/list.ts";
import type { Presence, ScanType } from "../domain/presence.ts";

/** What a scan is looked up by. */
export interface ScanLookup {
  readonly organizer: string;
  readonly event: string;
  readonly list: number;
  /** Null: a code that no ticket can have. */
  readonly code: string | null;
  /** The code with blanks for plus signs, where it has any. */
  readonly codeWithBlanks: string | null;
  /** The code read as the id of a ticket, where the input is trusted. */
  readonly ticketId: number | null;
  readonly nonce: string | null;
}

/** What one scan's decision and answer are made of. */
export interface ScanRead {
  /** Taken from the sequence, for the scan to be stored under. */
  readonly scanId: number;
  readonly list: ScanList;
  readonly timezone: string;
  readonly downloads: DownloadSettings;
  readonly tickets: readonly TicketRead[];
}

export interface ScanList extends AdmissionTerms {
  readonly name: string;
}

export interface TicketRead {
  readonly foundBy: FoundBy;
  readonly hasNonce: boolean;
  /** Encoded. */
  readonly state: Uint8Array;
  /** Of the ticket that this one is an add-on of, where its name may be needed; encoded. */
  readonly parentState: Uint8Array | null;
  readonly item: ItemRead;
  readonly presence: Presence;
  readonly checkins: readonly StoredCheckin[];
}

/** What an item says about scans of its tickets. */
export interface ItemRead {
  readonly admission: boolean;
  readonly generateTickets: boolean | null;
  /** Of the item and of the ticket's variation. */
  readonly attention: boolean;
  readonly variationText: string | null;
  readonly itemText: string | null;
}

/** A successful scan as history shows it. */
export interface StoredCheckin {
  readonly id: number;
  readonly at: number;
  readonly type: ScanType;
  readonly gate: number | null;
  readonly device: number | null;
  readonly deviceId: number | null;
  readonly autoCheckedIn: boolean;
}

interface Row {
  ord: number;
  scan_id: number;
  name: string;
  all_products: boolean;
  limit_products: number[];
  list_subevent: number | null;
  include_pending: boolean;
  allow_multiple_entries: boolean;
  allow_entry_after_exit: boolean;
  timezone: string;
  pdf_enabled: boolean;
  pdf_for_addons: boolean;
  pdf_for_non_admission: boolean;
  pdf_while_pending: boolean;
  found_by: FoundBy | null;
  ticket: number | null;
  has_nonce: boolean | null;
  state: Buffer | null;
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
  checkins: StoredCheckin[] | null;
}

/**
 * Reads what all these scans are decided by, in one statement. What belongs to
 * lookup number n stands at n; where the event has no such list, nothing does.
 */
export async function readForScans(db: Queryable, lookups: readonly ScanLookup[]): Promise<(ScanRead | undefined)[]> {
  const rows = await db.many<Row>(sql`
    select asked.ord, nextval('scan_id') as scan_id,
           list.name, list.all_products, list.limit_products, list.subevent as list_subevent, list.include_pending,
           list.allow_multiple_entries, list.allow_entry_after_exit,
           event.timezone, event.pdf_enabled, event.pdf_for_addons, event.pdf_for_non_admission, event.pdf_while_pending,
           ticket.found_by, ticket.id as ticket, ticket.state, parent.state as parent_state,
           item.admission, item.generate_tickets, item.checkin_attention, item.checkin_text,
           variation.attention as variation_attention, variation.text as variation_text,
           presence.version, presence.entries, presence.last_type, presence.last_at,
           history.checkins, history.has_nonce
      from unnest(${lookups.map((lookup) => lookup.organizer)}::text[],
                  ${lookups.map((lookup) => lookup.event)}::text[],
                  ${lookups.map((lookup) => lookup.list)}::bigint[],
                  ${lookups.map((lookup) => lookup.code)}::text[],
                  ${lookups.map((lookup) => lookup.codeWithBlanks)}::text[],
                  ${lookups.map((lookup) => lookup.ticketId)}::bigint[],
                  ${lookups.map((lookup) => lookup.nonce)}::text[])
           with ordinality as asked (organizer, event, list, code, code_with_blanks, ticket_id, nonce, ord)
      join list on list.organizer = asked.organizer and list.event = asked.event and list.id = asked.list
      join event on event.organizer = asked.organizer and event.event = asked.event
      left join lateral (
        select 'code' as found_by, position.id, position.item, position.variation, position.addon_to,
               position.attendee_name, position.state
          from position
         where position.organizer = asked.organizer
           and position.event = asked.event
           and lower(position.secret) = lower(asked.code collate "C")
           and position.secret = asked.code
         union all
        select 'code_with_blanks', position.id, position.item, position.variation, position.addon_to,
               position.attendee_name, position.state
          from position
         where position.organizer = asked.organizer
           and position.event = asked.event
           and lower(position.secret) = lower(asked.code_with_blanks collate "C")
           and position.secret = asked.code_with_blanks
         union all
        select case when base.secret = asked.code then 'code' else 'code_with_blanks' end, addon.id, addon.item,
               addon.variation, addon.addon_to, addon.attendee_name, addon.state
          from position as base
          join position as addon
            on addon.organizer = base.organizer and addon.event = base.event and addon.addon_to = base.id
         where list.addon_match
           and base.organizer = asked.organizer
           and base.event = asked.event
           and lower(base.secret) in (lower(asked.code collate "C"), lower(asked.code_with_blanks collate "C"))
           and base.secret in (asked.code, asked.code_with_blanks)
         union all
        select 'code', position.id, position.item, position.variation, position.addon_to, position.attendee_name,
               position.state
          from position
         where position.organizer = asked.organizer
           and position.event = asked.event
           and position.id = asked.ticket_id
      ) as ticket on true
      left join position as parent
        on parent.organizer = asked.organizer and parent.event = asked.event and parent.id = ticket.addon_to
           and coalesce(ticket.attendee_name, '') = ''
      left join item
        on item.organizer = asked.organizer and item.event = asked.event and item.id = ticket.item
      left join lateral (
        select (element ->> 'checkinAttention')::boolean as attention, element ->> 'checkinText' as text
          from jsonb_array_elements(item.variations) as element
         where (element ->> 'id')::bigint = ticket.variation
      ) as variation on ticket.variation is not null
      left join presence
        on presence.organizer = asked.organizer and presence.event = asked.event
           and presence.position = ticket.id and presence.list = asked.list
      left join lateral (
        select bool_or(scan.nonce = asked.nonce) as has_nonce,
               json_agg(json_build_object(
                 'id', scan.id, 'at', (extract(epoch from scan.at) * 1000000)::bigint, 'type', scan.type, 'gate', scan.gate,
                 'device', scan.device, 'deviceId', scan.device_id, 'autoCheckedIn', scan.auto_checked_in)
                 order by scan.at desc, scan.id desc) as checkins
          from scan
         where scan.organizer = presence.organizer
           and scan.event = presence.event
           and scan.list = presence.list
           and scan.position = presence.position
           and scan.successful
      ) as history on presence.version is not null`);
  const reads: (MutableRead | undefined)[] = lookups.map(() => undefined);
  for (const row of rows) {
    const index = row.ord - 1;
    const read = reads[index] ?? { ...toRead(row), seen: new Set() };
    reads[index] = read;
    // A ticket may be found in several ways; the first is how it was scanned.
    if (row.ticket === null || row.state === null || row.found_by === null || read.seen.has(row.ticket)) continue;
    read.seen.add(row.ticket);
    read.tickets.push(toTicket(row, { foundBy: row.found_by, state: row.state }));
  }
  return reads;
}

interface MutableRead extends ScanRead {
  readonly tickets: TicketRead[];
  readonly seen: Set<number>;
}

function toRead(row: Row): ScanRead & { tickets: TicketRead[] } {
  return {
    scanId: row.scan_id,
    list: {
      name: row.name,
      allProducts: row.all_products,
      limitProducts: row.limit_products,
      subevent: row.list_subevent,
      includePending: row.include_pending,
      allowMultipleEntries: row.allow_multiple_entries,
      allowEntryAfterExit: row.allow_entry_after_exit,
    },
    timezone: row.timezone,
    downloads: {
      pdfEnabled: row.pdf_enabled,
      addons: row.pdf_for_addons,
      nonAdmission: row.pdf_for_non_admission,
      pending: row.pdf_while_pending,
    },
    tickets: [],
  };
}

function toTicket(row: Row, { foundBy, state }: { foundBy: FoundBy; state: Buffer }): TicketRead {
  return {
    foundBy,
    hasNonce: row.has_nonce === true,
    state,
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
  };
}
