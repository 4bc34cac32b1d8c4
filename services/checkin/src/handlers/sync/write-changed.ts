import type { Db } from "@tessera/kit/pg/database";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import type { Change } from "../../store/changes.ts";
import { kindsOfEvents, readSynced, readSyncedMedia, readSyncedPresences } from "../../store/synced-rows.ts";
import type { Asked } from "../../wire/sync-cursor.ts";
import { goneLine, writeMedium, writePresence } from "../../wire/sync-lines.ts";
import { writerFor } from "./writer-for.ts";

/** The name of what has changed, among all of an organizer. */
export function keyOf({ kind, event, entity, list }: Omit<Change, "changedIn" | "id">): string {
  return kind === "medium" ? `medium/${entity}` : `${kind}/${event}/${entity}/${list ?? ""}`;
}

/** The lines of the first of many changes, by their names. */
export interface Written {
  readonly changes: readonly Change[];
  readonly lineOf: Map<string, string>;
}

/**
 * The presences of a step and their scans weigh no more than this: about as many characters as fit in a message, and far fewer than a
 * statement has time for. Usual is one scan.
 */
export const mostScans = 10_000;

/**
 * Writes the lines of the entities that have changed, as they are now, and lines that say so of those that were deleted. Where presences have many
 * scans, the last changes are left to the next step.
 */
export async function writeChanged(
  db: Db,
  { organizer, events, hash }: Asked,
  sent: readonly Change[],
): Promise<Written> {
  const scanned = [...named(sent.filter(({ kind }) => kind === "presence"))];
  const keys = scanned.map(([, { event, entity: position, list }]) => ({ event, position, list: list ?? 0 }));
  const { presences, read } = await readSyncedPresences(db, { organizer, keys, most: mostScans });
  const left = new Set(scanned.slice(read).map(([key]) => key));
  const end = sent.findIndex((change) => left.has(keyOf(change)));
  const changes = end === -1 ? sent : sent.slice(0, end);
  const changed = named(changes);
  const of = Map.groupBy(changed.values(), ({ kind }) => kind);
  const lines = new Map<string, string>();
  for (const kind of kindsOfEvents) {
    const wanted = (of.get(kind) ?? []).map(({ event, entity: id }) => ({ event, id }));
    const rows = await readSynced(db, kind, { organizer, keys: wanted });
    const write = await writerFor(db, kind, { organizer, rows, hash });
    await inSlices(rows, (row) => lines.set(keyOf({ kind, event: row.event, entity: row.id, list: null }), write(row)));
  }
  await inSlices(presences, (row) => {
    lines.set(keyOf({ kind: "presence", event: row.event, entity: row.position, list: row.list }), writePresence(row));
  });
  const media = (of.get("medium") ?? []).map(({ entity }) => entity);
  const isAmong = (event: string) => events === undefined || events.includes(event);
  for (const row of media.length === 0 ? [] : await readSyncedMedia(db, { organizer, ids: media })) {
    lines.set(keyOf({ kind: "medium", event: "", entity: row.id, list: null }), writeMedium(row, { isAmong, hash }));
  }
  for (const [key, { kind, event, entity: id, list }] of changed) {
    if (lines.has(key)) continue;
    const place = kind === "medium" ? {} : { event };
    lines.set(key, goneLine({ kind, ...place, id, ...(list === null ? {} : { list }) }));
  }
  return { changes, lineOf: lines };
}

/** The last change of each entity, in the order of the first changes. */
function named(changes: readonly Change[]): Map<string, Change> {
  return new Map(changes.map((change) => [keyOf(change), change]));
}
