import { SyncedPosition } from "@tessera/protos/gen/ticketing/checkin/v1/sync";
import { formatInstant } from "@tessera/values";
import type { GivenRow, KindOfEvents, MediumRow, PresenceRow, RowOfKind } from "../store/synced-rows.ts";
import { withGivenAnswers } from "./answers.ts";
import type { HashCode } from "./hash-code.ts";

/** What names an entity on a line. */
export interface LineKey {
  readonly kind: string;
  /** Media are of no event. */
  readonly event?: string;
  readonly id: number;
  /** Of a presence; its id is that of the ticket. */
  readonly list?: number;
}

/** One line of the feed: an entity as it is now. `data` is JSON. */
function line({ kind, event, id, list }: LineKey, data: string): string {
  const place = event === undefined ? "" : `,"event":${JSON.stringify(event)}`;
  const of = list === undefined ? "" : `,"list":${list}`;
  return `{"kind":"${kind}"${place},"id":${id}${of},"data":${data}}\n`;
}

/** The line of an entity that is no longer there. */
export function goneLine({ kind, event, id, list }: LineKey): string {
  return `${JSON.stringify({ kind, event, id, list, deleted: true })}\n`;
}

/** Tickets are written with what belongs to them. */
export type PlainKind = Exclude<KindOfEvents, "ticket">;

type Write<K extends PlainKind> = (row: RowOfKind[K], hash: HashCode | undefined) => string;

const writers: { readonly [K in PlainKind]: Write<K> } = {
  event: (row) =>
    JSON.stringify({
      name: row.name,
      timezone: row.timezone,
      locale: row.locale,
      has_subevents: row.has_subevents,
      date_from: moment(row.date_from),
      date_to: moment(row.date_to),
      date_admission: moment(row.date_admission),
      valid_keys: row.ticket_keys ?? [],
      reusable_media_usage_enforced: row.reusable_media_usage_enforced,
    }),
  subevent: writeDocument,
  item: writeDocument,
  question: writeDocument,
  list: (row) => {
    const fields = {
      name: row.name,
      all_products: row.all_products,
      limit_products: row.limit_products,
      subevent: row.subevent,
      include_pending: row.include_pending,
      allow_multiple_entries: row.allow_multiple_entries,
      allow_entry_after_exit: row.allow_entry_after_exit,
      exit_all_at: moment(row.exit_all_at),
      addon_match: row.addon_match,
      ignore_in_statistics: row.ignore_in_statistics,
      consider_tickets_used: row.consider_tickets_used,
      soft_limit: row.soft_limit,
      hard_limit: row.hard_limit,
      takes_from: row.takes_from,
    };
    return `${JSON.stringify(fields).slice(0, -1)},"rules":${onOneLine(row.rules)}}`;
  },
  revoked: ({ secret, ticket }, hash) => JSON.stringify({ ...showCode(secret, hash), ticket }),
  blocked: ({ secret, blocked }, hash) => JSON.stringify({ ...showCode(secret, hash), blocked }),
};

export function writeSynced<K extends PlainKind>(kind: K, row: RowOfKind[K], hash?: HashCode): string {
  const write: Write<K> = writers[kind];
  return line({ kind, event: row.event, id: row.id }, write(row, hash));
}

function showCode(secret: string, hash: HashCode | undefined) {
  return hash === undefined ? { secret } : { code: hash(secret).toString("hex") };
}

/** JSON as it was sent may have line feeds between its tokens, never in a text. */
function onOneLine(json: string): string {
  return json.replaceAll(/[\r\n]/g, " ");
}

function writeDocument({ document }: { readonly document: string }): string {
  return onOneLine(document);
}

/** A ticket, with the answers that it was given at gates. */
export function writeTicket(row: RowOfKind["ticket"], given: readonly GivenRow[], hash?: HashCode): string {
  const position = SyncedPosition.decode(row.state);
  const { order, seat } = position;
  const data = {
    ...showCode(row.secret, hash),
    item: row.item,
    variation: row.variation,
    subevent: row.subevent,
    addon_to: row.addon_to,
    order_status: row.order_status,
    valid_if_pending: row.valid_if_pending,
    require_approval: row.require_approval,
    canceled: row.canceled,
    blocked: row.blocked,
    valid_from: moment(row.valid_from),
    valid_until: moment(row.valid_until),
    locale: order?.locale ?? "",
    require_attention: order?.checkinAttention === true,
    answered: answeredBy(position, given),
  };
  const personal = {
    order: row.order_code,
    positionid: row.positionid,
    pseudonymization_id: row.pseudonymization_id,
    seat: seat?.name ?? null,
    attendee_name: position.attendeeName ?? null,
    checkin_text: order?.checkinText ?? null,
  };
  const shown = hash === undefined ? { ...data, ...personal } : data;
  return line({ kind: "ticket", event: row.event, id: row.id }, JSON.stringify(shown));
}

/** The questions that a ticket has answered, before or at a gate. */
export function answeredBy(position: SyncedPosition, given: readonly GivenRow[]): number[] {
  return withGivenAnswers(position, given).answers.map(({ question }) => question);
}

export function writePresence({ event, position, list, entries, last_type, last_at, scans }: PresenceRow): string {
  const shown = (scans ?? []).map(([at, type, gate, device]) => ({ type, datetime: formatInstant(at), gate, device }));
  const data = { entries, last_type, last_datetime: moment(last_at), scans: shown };
  return line({ kind: "presence", event, id: position, list }, JSON.stringify(data));
}

/** A medium is shown with its tickets of these events. Without any it is of no use there. */
export function writeMedium(
  row: MediumRow,
  { isAmong, hash }: { readonly isAmong: (event: string) => boolean; readonly hash?: HashCode | undefined },
): string {
  const tickets = row.tickets.filter(({ event }) => isAmong(event));
  const key = { kind: "medium", id: row.id };
  if (tickets.length === 0) return goneLine(key);
  const { type, identifier, active } = row;
  return line(
    key,
    JSON.stringify({ type, ...showMedium(identifier, hash), active, expires: moment(row.expires), tickets }),
  );
}

function showMedium(identifier: string, hash: HashCode | undefined) {
  return hash === undefined ? { identifier } : { code: hash(identifier).toString("hex") };
}

function moment(at: number | null): string | null {
  return at === null ? null : formatInstant(at);
}
