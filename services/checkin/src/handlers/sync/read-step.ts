import type { Db } from "@tessera/kit/pg/database";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import { type Change, readChangesBetween, readMoment } from "../../store/changes.ts";
import {
  findEventBehind,
  type KindOfEvents,
  kindsOfEvents,
  type RowOfKind,
  readMediaBehind,
  readPresencesOfFirst,
  readSyncedBehind,
} from "../../store/synced-rows.ts";
import type { Asked, Cursor, Place } from "../../wire/sync-cursor.ts";
import { writeMedium, writePresence } from "../../wire/sync-lines.ts";
import { noCursor } from "./no-cursor.ts";
import { isDocument, mostDocuments, mostEntities, mostOf } from "./step-size.ts";
import { keyOf, mostScans, writeChanged } from "./write-changed.ts";
import { writerFor } from "./writer-for.ts";

export interface Step {
  readonly lines: readonly string[];
  readonly cursor: Cursor;
  /** There is nothing more to read now. */
  readonly isComplete: boolean;
}

/** A step ends behind the line that exceeds this, or the ticket with its presences, so that it fits in a message. */
const mostCharacters = 1_000_000;

/** Begins the first copy: whatever changes from now on comes after it. */
export async function beginCopy(db: Db, of: Pick<Cursor, "organizer" | "scope">): Promise<Cursor> {
  const { epoch, snapshot } = await readMoment(db);
  return { ...of, epoch, since: snapshot, place: { in: "events", event: "", kind: "ticket", id: 0 } };
}

/** Reads on behind a cursor; undefined: it is too old. The step reads only what is asked for, whatever the cursor says. */
export function readStep(db: Db, asked: Asked, cursor: Cursor): Promise<Step | undefined> {
  const { place } = cursor;
  if (place?.in === "events") return copyEvents(db, asked, { cursor, place });
  if (place?.in === "media") return copyMedia(db, asked, { cursor, place });
  return followChanges(db, asked, { cursor, place });
}

interface From<P> {
  readonly cursor: Cursor;
  readonly place: P;
}

type PlaceIn<I extends Place["in"]> = Extract<Place, { readonly in: I }>;

function goOn(lines: readonly string[], cursor: Cursor, place: Place | null): Step {
  return { lines, cursor: { ...cursor, place }, isComplete: false };
}

async function copyEvents(
  db: Db,
  { organizer, events, hash }: Asked,
  { cursor, place }: From<PlaceIn<"events">>,
): Promise<Step> {
  const { event, kind, id: after } = place;
  // The cursor is forged: a copy leads only to events that the reader asks for.
  if (event !== "" && events?.includes(event) === false) throw noCursor();
  const rows = event === "" ? [] : await readSyncedBehind(db, kind, { organizer, event, after, most: mostOf(kind) });
  const lines =
    kind === "ticket"
      ? await writeTickets(db, { organizer, hash }, rows as RowOfKind["ticket"][])
      : await writeSome(rows, await writerFor(db, kind, { organizer, rows, hash }));
  const isEnd = lines.length === rows.length && rows.length < mostOf(kind);
  if (isEnd) return goOn(lines, cursor, await nextPlace(db, { organizer, events }, { event, kind }));
  return goOn(lines, cursor, { ...place, id: rows[lines.length - 1]?.id ?? after });
}

/** Writes the first of these tickets, each with its presences. */
async function writeTickets(
  db: Db,
  { organizer, hash }: Pick<Asked, "organizer" | "hash">,
  tickets: readonly RowOfKind["ticket"][],
): Promise<string[]> {
  const { presences, read } = await readPresencesOfFirst(db, { organizer, keys: tickets, most: mostScans });
  const rows = tickets.slice(0, read);
  const write = await writerFor(db, "ticket", { organizer, rows, hash });
  const byTicket = Map.groupBy(presences, ({ position }) => position);
  return writeSome(rows, (row) => [write(row), ...(byTicket.get(row.id) ?? []).map(writePresence)].join(""));
}

/** The next kind of an event, else the next event, else the media. */
async function nextPlace(
  db: Db,
  { organizer, events }: Asked,
  { event, kind }: { readonly event: string; readonly kind: KindOfEvents },
): Promise<Place> {
  const nextKind = kindsOfEvents[kindsOfEvents.indexOf(kind) + 1];
  if (nextKind !== undefined) return { in: "events", event, kind: nextKind, id: beforeAll };
  const nextEvent =
    events === undefined
      ? await findEventBehind(db, { organizer, after: event })
      : events.find((other) => other > event);
  if (nextEvent === undefined) return { in: "media", id: beforeAll };
  return { in: "events", event: nextEvent, kind: kindsOfEvents[0], id: beforeAll };
}

const beforeAll = -1;

async function copyMedia(
  db: Db,
  { organizer, events, hash }: Asked,
  { cursor, place }: From<PlaceIn<"media">>,
): Promise<Step> {
  const rows = await readMediaBehind(db, { organizer, after: place.id, most: mostEntities });
  const last = rows.at(-1);
  if (last === undefined) return goOn([], cursor, null);
  const isAmong = (event: string) => events === undefined || events.includes(event);
  const used = rows.filter(({ tickets }) => tickets.some(({ event }) => isAmong(event)));
  return goOn(
    used.map((row) => writeMedium(row, { isAmong, hash })),
    cursor,
    { in: "media", id: last.id },
  );
}

async function followChanges(
  db: Db,
  asked: Asked,
  { cursor, place }: From<PlaceIn<"changes"> | null>,
): Promise<Step | undefined> {
  const { organizer, events } = asked;
  const { since } = cursor;
  const read = await readChangesBetween(db, {
    ...{ organizer, events, since, until: place?.until, after: place ?? undefined, most: mostEntities },
  });
  if (read.epoch !== cursor.epoch || !read.isKept) return undefined;
  const { snapshot: until } = read;
  const { changes, lineOf } = await writeChanged(db, asked, cutChanges(read.changes));
  // An entity that has changed more than once has one line, with its current state.
  const written = await writeSome(changes, (change) => {
    const key = keyOf(change);
    const line = lineOf.get(key) ?? "";
    lineOf.delete(key);
    return line;
  });
  const lines = written.filter((line) => line !== "");
  const last = changes[written.length - 1];
  if (last === undefined || (written.length === read.changes.length && written.length < mostEntities))
    return { lines, cursor: { ...cursor, since: until, place: null }, isComplete: true };
  return goOn(lines, cursor, { in: "changes", until, changedIn: last.changedIn, id: last.id });
}

/** As many changes as may be read at once. */
function cutChanges(changes: readonly Change[]): readonly Change[] {
  let documents = 0;
  const end = changes.findIndex(({ kind }) => isDocument(kind) && ++documents > mostDocuments);
  return end === -1 ? changes : changes.slice(0, end);
}

/** Writes items until their lines are as long as a message may be: at least one. */
async function writeSome<T>(items: readonly T[], write: (item: T) => string): Promise<string[]> {
  const lines: string[] = [];
  let characters = 0;
  await inSlices(items, (item) => {
    if (characters > mostCharacters) return;
    const line = write(item);
    characters += line.length;
    lines.push(line);
  });
  return lines;
}
