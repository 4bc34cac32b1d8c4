import {
  type AdmissionTerms,
  type ArrivedScan,
  type FoundBy,
  type MediaTerms,
  type RuleFacts,
  readMediaTerms,
  type TicketMedium,
} from "@tessera/admission";
import type { Db, Queryable } from "@tessera/kit/pg/database";
import { inMicroseconds } from "@tessera/kit/pg/instants";
import { sparseColumn } from "@tessera/kit/pg/sparse-column";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, rowsAs, text } from "@tessera/kit/pg/table";
import type { DownloadSettings } from "@tessera/values";
import { hasBlockedCode } from "./blocked-secrets.ts";
import { answersAreErased } from "./erase-answers.ts";
import { findPlaces, placeColumns } from "./find-places.ts";
import { indexedSecret as indexed } from "./indexed-secret.ts";
import { joinedTo, type TicketRead, type TicketRow, ticketColumns, toTicketRead } from "./ticket-rows.ts";

export interface Lookup extends Pick<ArrivedScan, "organizer" | "event" | "list" | "code" | "ticketId" | "nonce"> {
  /** Tickets that the code leads to although they have another code. */
  readonly linked?: LinkedTickets | null;
}

export interface LinkedTickets {
  readonly by: "medium" | "revoked";
  readonly ids: readonly number[];
}

/** What a scan is decided and answered by. */
export interface ScanRead {
  /** Drawn from the sequence: the id that the scan will be stored under. */
  readonly scanId: number;
  readonly list: ScannedList;
  readonly timezone: string;
  readonly locale: string;
  readonly downloads: DownloadSettings;
  /** A ticket that was exchanged for a medium admits no more by its own code. */
  readonly isMediumEnforced: boolean;
  readonly tickets: readonly FoundTicket[];
  /** The code belongs to a medium whose tickets are all of other events. */
  readonly isMediumElsewhere: boolean;
  /** A ticket had the code once; the ticket may be deleted. */
  readonly isRevoked: boolean;
  /** The keys of the event, as JSON, for an unknown code that may be signed. */
  readonly ticketKeys: string | null;
}

export interface ScannedList extends AdmissionTerms {
  readonly name: string;
  /** JSON text. */
  readonly rules: string;
  /** Lists that a visitor leaves by entering here. */
  readonly takesFrom: readonly number[];
  /** Another list takes visitors from it. */
  readonly isTakenFrom: boolean;
  readonly hardLimit: number | null;
  /** Null: the list has no limit. `persons` are those inside; null: who was inside before the limit is not counted yet. */
  readonly count: { readonly persons: number | null } | null;
}

export interface FoundTicket extends TicketRead {
  readonly foundBy: FoundBy;
  readonly hasNonce: boolean;
  readonly hasBlockedCode: boolean;
  /** The dates of the ticket's date, else of the event. */
  readonly dates: RuleFacts["dates"];
  /** The questions that visitors with such a ticket are asked at the gate, in order, as JSON. */
  readonly questions: readonly string[];
  readonly mediaTerms: MediaTerms | null;
  /** Its active media of the type that its item is exchanged for. */
  readonly media: readonly TicketMedium[];
}

interface Row extends Omit<TicketRow, "state"> {
  ord: number;
  scan_id: number;
  /** Only on the rows of the first scan of a list. */
  terms: Terms | null;
  /** Null, like the ticket: no ticket was found. */
  found_by: FoundBy | null;
  ticket: number | null;
  ticket_item: number | null;
  ticket_subevent: number | null;
  state: Buffer | null;
  has_nonce: boolean | null;
  is_blocked: boolean;
  date_from: number | null;
  date_to: number | null;
  date_admission: number | null;
  media_policy: string | null;
  media_type: string | null;
  media: TicketMedium[] | null;
}

interface Terms {
  readonly list: ScannedList;
  readonly timezone: string;
  readonly locale: string;
  readonly downloads: DownloadSettings;
  readonly isMediumEnforced: boolean;
  readonly dates: FoundTicket["dates"];
  /** In order, each with the items that it is asked for. */
  readonly questions: readonly { readonly document: string; readonly items: readonly number[] }[] | null;
}

const columnsOfTicket = sql`
  position.organizer, position.event, position.id, position.item, position.variation, position.subevent,
  position.addon_to, position.attendee_name, position.secret, position.state`;

const byCode = (foundBy: Sql, code: Sql) => sql`
        select ${foundBy} as found_by, ${columnsOfTicket}
          from position
         where position.organizer = place.organizer
           and position.event = place.event
           and ${indexed(sql`position.secret`)} = ${indexed(sql`${code} collate "C"`)}
           and position.secret = ${code}`;

/** Rare ways to a ticket: to start these subqueries costs every batch. */
const byCodeWithBlanks = sql`
         union all ${byCode(sql`'code_with_blanks'`, sql`asked.code_with_blanks`)}`;
const byId = sql`
         union all
        select 'code', ${columnsOfTicket}
          from position
         where position.organizer = place.organizer
           and position.event = place.event
           and position.id = asked.ticket_id`;
const byLink = sql`
         union all
        select asked.linked_by, ${columnsOfTicket}
          from position
         where asked.linked_by is not null
           and position.organizer = place.organizer
           and position.event = place.event
           and position.id = any(asked.linked::bigint[])
         union all
        select asked.linked_by, ${columnsOfTicket}
          from position
         where asked.linked_by is not null
           and place.addon_match
           and position.organizer = place.organizer
           and position.event = place.event
           and position.addon_to = any(asked.linked::bigint[])`;

/** Whether a successful scan of the ticket on the list has the nonce. Without a presence there is no such scan. */
const hasNonce = sql`
           asked.nonce is not null and presence.version is not null and exists (
             select from scan
              where scan.nonce = asked.nonce and scan.event = place.event and scan.organizer = place.organizer
                and scan.position = ticket.id and scan.list = place.list and scan.successful)`;

/**
 * The media of a ticket whose item is exchanged for one; `case` skips the subquery for others. Few media have its id among
 * their links, but most have its event: only the id is in the index. Without statistics a plain condition on the organizer
 * would select the index of codes, and read all of its media for each ticket.
 */
const mediaOfTicket = sql`
           case when item.media_policy is not null then (
             select json_agg(json_build_object('identifier', medium.identifier, 'expires', ${inMicroseconds(sql`medium.expires_at`)}))
               from reusable_medium as medium
              where jsonb_path_query_array(medium.linked_positions, '$[*].id') @> jsonb_build_array(ticket.id)
                and medium.linked_positions @> jsonb_build_array(jsonb_build_object('event', ticket.event, 'id', ticket.id))
                and medium.organizer || '' = ticket.organizer
                and medium.type = item.media_type
                and medium.active) end as media`;

/**
 * `nextval` writes WAL, and a read that draws ids would wait for its flush. The commit of the scan flushes the WAL
 * anyway: if a crash takes an id back, no caller has seen it, and no scan is stored under it.
 */
const withoutWaiting = sql`(select set_config('synchronous_commit', 'off', true)) as commit_setting`;

/**
 * Read once per list, not per scan. An event whose answers were erased asks no questions: since it stores no answers, a
 * visitor would be asked at every scan.
 */
const termsOfPlace = sql`
             json_build_object(
               'list', json_build_object(
                 'name', list.name, 'allProducts', list.all_products, 'limitProducts', list.limit_products,
                 'subevent', list.subevent, 'includePending', list.include_pending,
                 'allowMultipleEntries', list.allow_multiple_entries, 'allowEntryAfterExit', list.allow_entry_after_exit,
                 'hardLimit', list.hard_limit, 'takesFrom', list.takes_from,
                 'isTakenFrom', exists (
                   select from list as other
                    where other.organizer = list.organizer and other.event = list.event and other.takes_from <> '{}'
                      and list.id = any(other.takes_from)),
                 'count', (
                   select json_build_object('persons', case when held.is_counted then held.persons end)
                     from persons_inside as held
                    where held.organizer = list.organizer and held.event = list.event and held.list = list.id),
                 'rules', list.rules),
               'timezone', event.timezone, 'locale', event.locale,
               'downloads', json_build_object(
                 'pdfEnabled', event.pdf_enabled, 'addons', event.pdf_for_addons,
                 'nonAdmission', event.pdf_for_non_admission, 'pending', event.pdf_while_pending),
               'isMediumEnforced', event.reusable_media_usage_enforced,
               'dates', json_build_object(
                 'from', ${inMicroseconds(sql`event.date_from_at`)}, 'to', ${inMicroseconds(sql`event.date_to_at`)},
                 'admission', ${inMicroseconds(sql`event.date_admission_at`)}),
               'questions', (
                 select json_agg(json_build_object('document', question.document::text, 'items', question.items)
                                 order by question.position, question.id)
                   from question
                  where question.organizer = list.organizer and question.event = list.event
                    and question.ask_during_checkin
                    and not ${answersAreErased(sql`list`)})) as terms`;

/**
 * Reads what all these scans are decided by, in one statement. The result of lookup n is at index n; undefined: the
 * event has no such list. Without ids the scans cannot be stored, and the connection may be read-only.
 *
 * Not for a transaction, which would commit without a flush of the WAL.
 */
export async function readForScans(
  db: Db,
  lookups: readonly Lookup[],
  { withIds = true } = {},
): Promise<(ScanRead | undefined)[]> {
  if (lookups.length === 0) return [];
  const { places, placeOf } = findPlaces(lookups);
  const rows = await db.many<Row>(sql`
    with place as materialized (
      select wanted.ord, list.organizer, list.event, list.id as list, list.addon_match, list.rules <> '{}' as has_rules,
             exists (select from blocked_secret
                      where blocked_secret.organizer = list.organizer and blocked_secret.event = list.event) as has_blocked,
             ${termsOfPlace}
        from ${rowsAs("wanted", placeColumns, places, { isNumbered: true })}
        join list on list.organizer = wanted.organizer and list.event = wanted.event and list.id = wanted.list
        join event on event.organizer = list.organizer and event.event = list.event
    )
    select asked.ord, ${withIds ? sql`nextval('scan_id')` : sql`0::bigint`} as scan_id, case when asked.is_first then place.terms end as terms,
           ticket.found_by, ticket.id as ticket, ticket.item as ticket_item, ticket.subevent as ticket_subevent,
           ${hasNonce} as has_nonce, place.has_blocked and ${hasBlockedCode} as is_blocked,
           subevent.date_from_at as date_from, subevent.date_to_at as date_to, subevent.date_admission_at as date_admission,
           item.media_policy, item.media_type,${mediaOfTicket},
           ${ticketColumns({ list: sql`place.list`, hasRules: sql`place.has_rules` })}
      from ${withoutWaiting}
     cross join unnest(${placeOf}::bigint[],
                  ${placeOf.map((place, index) => placeOf.indexOf(place) === index)}::boolean[],
                  ${lookups.map((lookup) => lookup.code)}::text[],
                  ${sparseColumn(lookups.map(({ code }) => (code?.includes("+") ? code.replaceAll("+", " ") : null)))}::text[],
                  ${sparseColumn(lookups.map((lookup) => lookup.ticketId))}::bigint[],
                  ${sparseColumn(lookups.map((lookup) => lookup.nonce))}::text[],
                  ${sparseColumn(lookups.map(({ linked }) => linked?.by ?? null))}::text[],
                  ${sparseColumn(lookups.map(({ linked }) => (linked ? `{${linked.ids.join(",")}}` : null)))}::text[])
           with ordinality as asked (place, is_first, code, code_with_blanks, ticket_id, nonce, linked_by, linked, ord)
      join place on place.ord = asked.place
      left join lateral (
        ${byCode(sql`'code'`, sql`asked.code`)}
         union all
        select case when base.secret = asked.code then 'code' else 'code_with_blanks' end, ${columnsOfTicket}
          from position as base
          join position
            on position.organizer = base.organizer and position.event = base.event and position.addon_to = base.id
         where place.addon_match
           and base.organizer = place.organizer
           and base.event = place.event
           and ${indexed(sql`base.secret`)} in (${indexed(sql`asked.code collate "C"`)},
                                                ${indexed(sql`asked.code_with_blanks collate "C"`)})
           and base.secret in (asked.code, asked.code_with_blanks)
        ${lookups.some(({ code }) => code?.includes("+")) ? byCodeWithBlanks : sql``}
        ${lookups.some(({ ticketId }) => ticketId !== null) ? byId : sql``}
        ${lookups.some(({ linked }) => linked) ? byLink : sql``}
      ) as ticket on true
      left join subevent
        on subevent.organizer = ticket.organizer and subevent.event = ticket.event and subevent.id = ticket.subevent
      ${joinedTo({ list: sql`place.list` })}`);
  const terms = new Map<number, Terms>();
  for (const row of rows) if (row.terms !== null) terms.set(placeOf[row.ord - 1] ?? 0, row.terms);
  const reads: (ReturnType<typeof toRead> | undefined)[] = lookups.map(() => undefined);
  for (const row of rows) {
    const index = row.ord - 1;
    const known = terms.get(placeOf[index] ?? 0);
    if (known === undefined) continue;
    const read = reads[index] ?? toRead(row, known);
    reads[index] = read;
    addTicket(read, row, known);
  }
  return reads.map((read) => read && { ...read, tickets: [...read.tickets.values()] });
}

function toRead(row: Row, { list, timezone, locale, downloads, isMediumEnforced }: Terms) {
  return {
    scanId: row.scan_id,
    list,
    timezone,
    locale,
    downloads,
    isMediumEnforced,
    isMediumElsewhere: false,
    isRevoked: false,
    ticketKeys: null,
    tickets: new Map<number, FoundTicket>(),
    foundBy: new Map<number, FoundBy>(),
  };
}

function addTicket(read: ReturnType<typeof toRead>, row: Row, { dates, questions }: Terms): void {
  const { ticket, state, found_by: foundBy, ticket_item: item } = row;
  if (ticket === null || state === null || foundBy === null || item === null) return;
  const known = read.foundBy.get(ticket);
  if (known !== undefined && rank(known) <= rank(foundBy)) return;
  read.foundBy.set(ticket, foundBy);
  read.tickets.set(ticket, {
    foundBy,
    hasNonce: row.has_nonce === true,
    hasBlockedCode: row.is_blocked,
    dates:
      row.ticket_subevent === null ? dates : { from: row.date_from, to: row.date_to, admission: row.date_admission },
    questions: (questions ?? []).filter(({ items }) => items.includes(item)).map(({ document }) => document),
    mediaTerms: readMediaTerms(row.media_policy, row.media_type),
    media: row.media ?? [],
    ...toTicketRead({ ...row, state }),
  });
}

/** Of several ways to a ticket the first counts: a code of a medium, or a revoked one, is not the ticket's own. */
const byRank: readonly FoundBy[] = ["medium", "revoked", "code", "code_with_blanks"];

function rank(foundBy: FoundBy): number {
  return byRank.indexOf(foundBy);
}

/** A nonce names one scan, on few lists. The limit protects other scans from a device that reuses one nonce. */
const mostOfOneNonce = 100;

const replayColumns = { organizer: text, event: text, list: bigint, code: text.orNull, nonce: text.orNull };

/** Finds the tickets that the same scans (list, code, nonce) have admitted: codes may lead to other tickets by now. */
export async function findReplayed(
  db: Queryable,
  lookups: readonly Pick<Lookup, "organizer" | "event" | "list" | "code" | "nonce">[],
): Promise<(number | undefined)[]> {
  const rows = await db.many<{ ord: number; position: number }>(sql`
    select asked.ord, scan.position
      from ${rowsAs("asked", replayColumns, lookups, { isNumbered: true })}
     cross join lateral (
       select scan.position, scan.list, scan.raw_code
         from scan
        where scan.organizer = asked.organizer and scan.event = asked.event and scan.nonce = asked.nonce
          and scan.successful
        limit ${mostOfOneNonce}
     ) as scan
     where scan.list = asked.list
       and scan.raw_code = asked.code`);
  const positions: (number | undefined)[] = lookups.map(() => undefined);
  for (const { ord, position } of rows) positions[ord - 1] = position;
  return positions;
}
