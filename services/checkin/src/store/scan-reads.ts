import type { Db, Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, rowsAs, text } from "@tessera/kit/pg/table";
import type { DownloadSettings } from "@tessera/values";
import type { ArrivedScan } from "../domain/arrived-scan.ts";
import type { AdmissionTerms } from "../domain/list.ts";
import type { RuleFacts } from "../domain/rules/judge-rules.ts";
import type { FoundBy } from "../domain/ticket.ts";
import { hasBlockedCode } from "./blocked-secrets.ts";
import { downloadColumns } from "./events.ts";
import { indexedSecret as indexed } from "./indexed-secret.ts";
import { joinedTo, type TicketRead, type TicketRow, ticketColumns, ticketDates, toTicketRead } from "./ticket-rows.ts";

/** What a scan is looked up by. */
interface Lookup extends Pick<ArrivedScan, "organizer" | "event" | "list" | "code" | "ticketId" | "nonce"> {
  /** Tickets that the code leads to although they have another code. */
  readonly linked?: LinkedTickets | null;
}

export interface LinkedTickets {
  readonly by: "medium" | "revoked";
  readonly ids: readonly number[];
}

/** What a scan is decided and answered by. */
export interface ScanRead {
  /** From the sequence: the id that the scan will be stored under. */
  readonly scanId: number;
  readonly list: ScannedList;
  /** Of the event. */
  readonly timezone: string;
  readonly locale: string;
  readonly downloads: DownloadSettings;
  readonly tickets: readonly FoundTicket[];
  /** The code is that of a medium, and its tickets are all of other events. */
  readonly isMediumElsewhere: boolean;
  /** A ticket had the code once, which may be deleted. */
  readonly isRevoked: boolean;
}

export interface ScannedList extends AdmissionTerms {
  readonly name: string;
  /** JSON. */
  readonly rules: string;
}

export interface FoundTicket extends TicketRead {
  readonly foundBy: FoundBy;
  /** A successful scan of it on this list has the scan's nonce. */
  readonly hasNonce: boolean;
  /** Its code is one of those that are blocked. */
  readonly hasBlockedCode: boolean;
  /** Of its date, else of the event. */
  readonly dates: RuleFacts["dates"];
  /** The questions that visitors with such a ticket are asked at the gate, in order, in JSON. */
  readonly questions: readonly string[];
}

interface Row extends Omit<TicketRow, "state">, Omit<ScannedList, "subevent">, DownloadSettings {
  ord: number;
  scan_id: number;
  list_subevent: number | null;
  timezone: string;
  locale: string;
  /** Null, like the ticket: none was found. */
  found_by: FoundBy | null;
  ticket: number | null;
  state: Buffer | null;
  has_nonce: boolean | null;
  is_blocked: boolean;
  date_from: number | null;
  date_to: number | null;
  date_admission: number | null;
  questions: string[] | null;
}

const columnsOfTicket = sql`
  position.organizer, position.event, position.id, position.item, position.variation, position.subevent,
  position.addon_to, position.attendee_name, position.secret, position.state`;

/** Tickets whose code this is. */
const byCode = (foundBy: Sql, code: Sql) => sql`
        select ${foundBy} as found_by, ${columnsOfTicket}
          from position
         where position.organizer = asked.organizer
           and position.event = asked.event
           and ${indexed(sql`position.secret`)} = ${indexed(sql`${code} collate "C"`)}
           and position.secret = ${code}`;

/** Ways to a ticket that few scans take: to start them costs every batch. */
const byCodeWithBlanks = sql`
         union all ${byCode(sql`'code_with_blanks'`, sql`asked.code_with_blanks`)}`;
const byId = sql`
         union all
        select 'code', ${columnsOfTicket}
          from position
         where position.organizer = asked.organizer
           and position.event = asked.event
           and position.id = asked.ticket_id`;
const byLink = sql`
         union all
        select asked.linked_by, ${columnsOfTicket}
          from position
         where asked.linked_by is not null
           and position.organizer = asked.organizer
           and position.event = asked.event
           and position.id = any(asked.linked::bigint[])
         union all
        select asked.linked_by, ${columnsOfTicket}
          from position
         where asked.linked_by is not null
           and list.addon_match
           and position.organizer = asked.organizer
           and position.event = asked.event
           and position.addon_to = any(asked.linked::bigint[])`;

/** Whether a successful scan of the ticket on the list has the nonce. */
const hasNonce = sql`
           exists (
             select from scan
              where scan.nonce = asked.nonce and scan.event = asked.event and scan.organizer = asked.organizer
                and scan.position = ticket.id and scan.list = asked.list and scan.successful)`;

/**
 * A number of a sequence is written to the log of the database, and this read would wait until it is on the disk. The commit
 * of the scan that gets the number waits for everything before it, too: a number that a crash takes back was shown to no caller,
 * and no scan is stored under it any more.
 */
const withoutWaiting = sql`(select set_config('synchronous_commit', 'off', true)) as commit_setting`;

/**
 * Reads what all these scans are decided by, in one statement. The result of
 * lookup number n is at n; it is undefined where the event has no such list.
 *
 * Not for a transaction: it would not wait for the disk either.
 */
export async function readForScans(db: Db, lookups: readonly Lookup[]): Promise<(ScanRead | undefined)[]> {
  if (lookups.length === 0) return [];
  const rows = await db.many<Row>(sql`
    select asked.ord, nextval('scan_id') as scan_id,
           list.name, list.all_products as "allProducts", list.limit_products as "limitProducts",
           list.subevent as list_subevent, list.include_pending as "includePending",
           list.allow_multiple_entries as "allowMultipleEntries", list.allow_entry_after_exit as "allowEntryAfterExit",
           list.rules, event.timezone, event.locale, ${downloadColumns},
           ticket.found_by, ticket.id as ticket, ${hasNonce} as has_nonce, ${hasBlockedCode} as is_blocked, asked_here.questions,
           ${ticketDates},
           ${ticketColumns}
      from ${withoutWaiting}
     cross join unnest(${lookups.map((lookup) => lookup.organizer)}::text[],
                  ${lookups.map((lookup) => lookup.event)}::text[],
                  ${lookups.map((lookup) => lookup.list)}::bigint[],
                  ${lookups.map((lookup) => lookup.code)}::text[],
                  ${lookups.map(({ code }) => (code?.includes("+") ? code.replaceAll("+", " ") : null))}::text[],
                  ${lookups.map((lookup) => lookup.ticketId)}::bigint[],
                  ${lookups.map((lookup) => lookup.nonce)}::text[],
                  ${lookups.map(({ linked }) => linked?.by ?? null)}::text[],
                  ${lookups.map(({ linked }) => `{${linked?.ids.join(",") ?? ""}}`)}::text[])
           with ordinality as asked (organizer, event, list, code, code_with_blanks, ticket_id, nonce, linked_by, linked, ord)
      join list on list.organizer = asked.organizer and list.event = asked.event and list.id = asked.list
      join event on event.organizer = asked.organizer and event.event = asked.event
      left join lateral (
        ${byCode(sql`'code'`, sql`asked.code`)}
         union all
        select case when base.secret = asked.code then 'code' else 'code_with_blanks' end, ${columnsOfTicket}
          from position as base
          join position
            on position.organizer = base.organizer and position.event = base.event and position.addon_to = base.id
         where list.addon_match
           and base.organizer = asked.organizer
           and base.event = asked.event
           and ${indexed(sql`base.secret`)} in (${indexed(sql`asked.code collate "C"`)},
                                                ${indexed(sql`asked.code_with_blanks collate "C"`)})
           and base.secret in (asked.code, asked.code_with_blanks)
        ${lookups.some(({ code }) => code?.includes("+")) ? byCodeWithBlanks : sql``}
        ${lookups.some(({ ticketId }) => ticketId !== null) ? byId : sql``}
        ${lookups.some(({ linked }) => linked) ? byLink : sql``}
      ) as ticket on true
      left join subevent
        on subevent.organizer = asked.organizer and subevent.event = asked.event and subevent.id = ticket.subevent
      left join lateral (
        select array_agg(question.document::text order by question.position, question.id) as questions
          from question
         where question.organizer = asked.organizer
           and question.event = asked.event
           and question.ask_during_checkin
           and ticket.item = any(question.items)
      ) as asked_here on true
      ${joinedTo({ list: sql`asked.list`, hasRules: sql`list.rules <> '{}'` })}`);
  const reads: (ReturnType<typeof toRead> | undefined)[] = lookups.map(() => undefined);
  for (const row of rows) {
    const index = row.ord - 1;
    const read = reads[index] ?? toRead(row);
    reads[index] = read;
    const { ticket, state, found_by: foundBy } = row;
    if (ticket === null || state === null || foundBy === null) continue;
    const known = read.foundBy.get(ticket);
    if (known !== undefined && rank(known) <= rank(foundBy)) continue;
    read.foundBy.set(ticket, foundBy);
    read.tickets.set(ticket, {
      foundBy,
      hasNonce: row.has_nonce === true,
      hasBlockedCode: row.is_blocked,
      dates: { from: row.date_from, to: row.date_to, admission: row.date_admission },
      questions: row.questions ?? [],
      ...toTicketRead({ ...row, state }),
    });
  }
  return reads.map((read) => read && { ...read, tickets: [...read.tickets.values()] });
}

function toRead(row: Row) {
  const { name, allProducts, limitProducts, includePending, allowMultipleEntries, allowEntryAfterExit, rules } = row;
  const subevent = row.list_subevent;
  const { pdfEnabled, addons, nonAdmission, pending } = row;
  return {
    scanId: row.scan_id,
    list: {
      name,
      allProducts,
      limitProducts,
      subevent,
      includePending,
      allowMultipleEntries,
      allowEntryAfterExit,
      rules,
    },
    timezone: row.timezone,
    locale: row.locale,
    downloads: { pdfEnabled, addons, nonAdmission, pending },
    isMediumElsewhere: false,
    isRevoked: false,
    tickets: new Map<number, FoundTicket>(),
    foundBy: new Map<number, FoundBy>(),
  };
}

/** If a ticket was found in several ways, the first of these counts: a code that leads to it through a medium or a revocation is not its own. */
const byRank: readonly FoundBy[] = ["medium", "revoked", "code", "code_with_blanks"];

function rank(foundBy: FoundBy): number {
  return byRank.indexOf(foundBy);
}

/** A nonce names one scan, on a few lists at most. A device that uses one for all its scans delays no others by it. */
const mostOfOneNonce = 100;

const replayColumns = { organizer: text, event: text, list: bigint, code: text.orNull, nonce: text.orNull };

/**
 * Finds the tickets that the same scans have admitted before: same list, same
 * code, same nonce. For scans with a code that no ticket has any more.
 */
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
