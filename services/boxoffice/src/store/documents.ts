import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { identifier, joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { foldTypography, typography } from "@tessera/values";
import type { DocumentKind } from "../domain/document-kind.ts";
import { unchangedAt } from "./locks.ts";

/** Which documents are wanted. */
export interface DocumentFilter {
  readonly organizer: string;
  /** Empty: documents of all events. */
  readonly event: string;
  /** Only of these events; undefined: of all. Ignored for kinds without an event. */
  readonly among?: readonly string[] | undefined;
  /** Instants are microseconds since 1970. */
  readonly changedSince?: number | undefined;
  readonly endsAfter?: number | undefined;
  readonly live?: boolean | undefined;
  readonly active?: boolean | undefined;
  readonly search?: string | undefined;
  readonly type?: string | undefined;
  readonly identifier?: string | undefined;
  readonly subevent?: number | undefined;
  /** Of quotas: those that count one of these; empty: all. */
  readonly items?: readonly number[] | undefined;
}

export interface StoredDocument {
  readonly event: string;
  /** JSON, without the marks of unreadable parts. */
  readonly json: string;
}

const data = sql`document.data`;
const byId = { id: sql`document.id` };
const begins = sql`(${data} ->> 'date_from')::timestamptz`;

/** The end of an event or a date, from its document: its beginning where it names no end. */
export const endOf = (dates: Sql) => sql`coalesce(${dates} ->> 'date_to', ${dates} ->> 'date_from')::timestamptz`;

const ends = endOf(data);
const position = sql`(${data} ->> 'position')::bigint`;
const inPlace = [position, sql`document.id`];

/** The sort keys of each kind, and the default order. Each ends with a unique column. */
const orders: Readonly<
  Record<DocumentKind, { readonly columns: Readonly<Record<string, Sql>>; readonly usual: readonly Sql[] }>
> = {
  event: {
    columns: { slug: sql`document.slug`, date_from: begins, date_to: ends },
    usual: [begins, sql`document.slug`],
  },
  subevent: {
    columns: {
      ...byId,
      date_from: begins,
      last_modified: sql`document.changed_at`,
    },
    usual: [begins, sql`document.event`, sql`document.id`],
  },
  category: { columns: byId, usual: inPlace },
  item: { columns: { ...byId, position }, usual: inPlace },
  question: { columns: { ...byId, position }, usual: inPlace },
  quota: { columns: { ...byId, size: sql`(${data} ->> 'size')::bigint` }, usual: [sql`document.id`] },
  revoked_secret: {
    columns: { ...byId, created: sql`(${data} ->> 'created')::timestamptz`, secret: sql`${data} ->> 'secret'` },
    usual: [sql`document.id`],
  },
  blocked_secret: {
    columns: { ...byId, updated: sql`(${data} ->> 'updated')::timestamptz`, secret: sql`${data} ->> 'secret'` },
    usual: [sql`document.id`],
  },
  gate: { columns: { ...byId, name: sql`${data} ->> 'name'` }, usual: [sql`document.id`] },
  reusable_medium: {
    columns: {
      ...byId,
      created: sql`(${data} ->> 'created')::timestamptz`,
      updated: sql`document.changed_at`,
      identifier: sql`${data} ->> 'identifier'`,
    },
    usual: [sql`document.id`],
  },
};

/** Whether documents of a kind belong to no event. */
const isOfOrganizer = (kind: DocumentKind) => kind === "reusable_medium" || kind === "gate";

/** The rows of a filter, with the event of each as `place`. */
function rowsOf(kind: DocumentKind, filter: DocumentFilter): Sql {
  const { organizer, event, among, changedSince, endsAfter, live, active, search, type, identifier: code } = filter;
  const { subevent, items = [] } = filter;
  const belongsToEvent = kind !== "event" && !isOfOrganizer(kind);
  const place = kind === "event" ? sql`document` : sql`place`;
  const conditions = [sql`document.organizer = ${organizer}`];
  const say = (condition: Sql) => void conditions.push(condition);
  if (kind === "event") say(sql`not document.is_removed`);
  if (belongsToEvent) say(sql`not place.is_removed`);
  if (event !== "" && !isOfOrganizer(kind)) say(sql`${place}.slug = ${event}`);
  if (among !== undefined && !isOfOrganizer(kind)) say(sql`${place}.slug = any(${among}::text[])`);
  if (among !== undefined && kind === "reusable_medium")
    say(sql`exists (select from jsonb_array_elements(${data} -> 'linked_orderpositions') as linked (ticket)
                     where linked.ticket ->> 'event' = any(${among}::text[]))`);
  if (changedSince !== undefined) say(sql`document.changed_at >= ${toTimestamp(changedSince)}::timestamptz`);
  if (active !== undefined) say(sql`(${data} -> 'active')::boolean = ${active}`);
  if (live !== undefined) say(sql`(${place}.data -> 'live')::boolean = ${live}`);
  if (type !== undefined) say(sql`${data} ->> 'type' = ${type}`);
  if (code !== undefined) say(sql`${data} ->> 'identifier' = ${code}`);
  if (subevent !== undefined) say(sql`(${data} ->> 'subevent')::bigint = ${subevent}`);
  if (items.length > 0)
    say(sql`exists (select from jsonb_array_elements(${data} -> 'items') as counted (item)
                     where counted.item::bigint = any(${items}::bigint[]))`);
  if (search !== undefined) {
    const text = kind === "event" ? sql`concat_ws(' ', document.slug, ${data} ->> 'name')` : sql`${data} ->> 'name'`;
    const folded = sql`translate(${text}, ${typography.variants}, ${typography.usual})`;
    say(sql`position(lower(${foldTypography(search)}) in lower(${folded})) > 0`);
  }
  if (endsAfter !== undefined) say(endsBehind(kind, endsAfter));
  return sql`
      from ${identifier(kind)} as document
      ${belongsToEvent ? sql`join event as place on place.organizer = document.organizer and place.slug = document.event` : sql``}
     where ${joinSql(conditions, "\n       and ")}`;
}

/** A series has not ended before its last date. */
function endsBehind(kind: DocumentKind, at: number): Sql {
  const since = sql`${toTimestamp(at)}::timestamptz`;
  if (kind !== "event") return sql`${ends} >= ${since}`;
  return sql`(${ends} >= ${since}
            or exists (select from subevent
                        where subevent.organizer = document.organizer
                          and subevent.event = document.slug
                          and ${endOf(sql`subevent.data`)} >= ${since}))`;
}

const eventOf = (kind: DocumentKind) =>
  kind === "event" ? sql`document.slug` : isOfOrganizer(kind) ? sql`''` : sql`document.event`;

/** A document as it is shown. The time zone of an event may be in its settings. */
const shownOf = (kind: DocumentKind) =>
  kind === "event"
    ? sql`(${data} - 'unread' || jsonb_build_object('timezone',
             coalesce(${data} ->> 'timezone', document.settings ->> 'timezone', 'UTC')))`
    : sql`(${data} - 'unread')`;

export async function countDocuments(db: Queryable, kind: DocumentKind, filter: DocumentFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`select count(*) as count ${rowsOf(kind, filter)}`);
  return count;
}

/** Whether documents lack one of these distinct ids. */
export async function lacksOne(
  db: Queryable,
  kind: DocumentKind,
  { ids, ...filter }: DocumentFilter & { readonly ids: readonly number[] },
): Promise<boolean> {
  if (ids.length === 0) return false;
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count ${rowsOf(kind, filter)}
       and document.id = any(${ids}::bigint[])`);
  return count < ids.length;
}

/** Reads a page of documents; unknown sort keys are ignored. */
export function pageDocuments(
  db: Queryable,
  kind: DocumentKind,
  {
    ordering,
    limit,
    offset,
    ...filter
  }: DocumentFilter & { readonly ordering: readonly string[]; readonly limit: number; readonly offset: number },
): Promise<StoredDocument[]> {
  const { columns, usual } = orders[kind];
  const asked = ordering.flatMap((name) => {
    const column = columns[name.replace(/^-/, "")];
    return column === undefined ? [] : [name.startsWith("-") ? sql`${column} desc nulls last` : column];
  });
  return db.many<StoredDocument>(sql`
    select ${eventOf(kind)} as event, ${shownOf(kind)}::text as json
    ${rowsOf(kind, filter)}
     order by ${joinSql([...asked, ...usual], ", ")}
     limit ${limit}
    offset ${offset}`);
}

/** Reads a document by its id; an event is its own document. */
export function findDocument(
  db: Queryable,
  kind: DocumentKind,
  { id, ...filter }: DocumentFilter & { readonly id?: number | undefined },
): Promise<StoredDocument | undefined> {
  return db.maybeOne<StoredDocument>(sql`
    select ${eventOf(kind)} as event, ${shownOf(kind)}::text as json
    ${rowsOf(kind, filter)}
       ${id === undefined ? sql`` : sql`and document.id = ${id}`}`);
}

/**
 * Reads the watermark from which to ask for changes next, before the page is read. While records of the organizer are
 * being stored, it is the last stored change in a scope whose changes are serialized: one event, or the organizer
 * itself. For several events all documents must be asked for again.
 */
export async function readAsOf(db: Queryable, kind: DocumentKind, filter: DocumentFilter): Promise<number> {
  const idle = await unchangedAt(db, filter.organizer);
  if (idle !== undefined) return idle;
  if (!isOfOrganizer(kind) && filter.event === "") return 0;
  const { at } = await db.one<{ at: number | null }>(sql`
    select max(document.changed_at) as at
    ${rowsOf(kind, { organizer: filter.organizer, event: filter.event })}`);
  return at ?? 0;
}

/** Reads the settings of an event, without defaults, as JSON. */
export function findSettings(
  db: Queryable,
  { organizer, event }: { readonly organizer: string; readonly event: string },
): Promise<{ readonly json: string } | undefined> {
  return db.maybeOne(sql`
    select (event.settings - 'unread')::text as json
      from event
     where event.organizer = ${organizer}
       and event.slug = ${event}
       and not event.is_removed`);
}
