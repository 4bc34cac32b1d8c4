import { afterScan, countChange, neverScanned, type Presence } from "@tessera/admission";
import { consume } from "@tessera/kit/bus/consume";
import type { Fact } from "@tessera/kit/bus/fact";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { entityKey, parseEntityKey, topics } from "@tessera/protos/topics";
import { type Bucket, bucketOf, hasMoved } from "../domain/bucket.ts";
import { addCounts, type CountDelta, type Move, movePresences } from "../store/counts.ts";
import { findDeletedSince, noteDeletedPositions } from "../store/deleted-positions.ts";
import { addEarlierScans, type EarlierScan, nameOfEarlierScan } from "../store/earlier-scans.ts";
import { type EntityKey, nameOf } from "../store/keys.ts";
import { lockCountsOf } from "../store/persons-inside.ts";
import {
  findOlderPositions,
  firstKey,
  type HeldPosition,
  lockInserts,
  lockPositions,
  positions,
  readRevisions,
  shareInserts,
  waitBriefly,
} from "../store/positions.ts";
import {
  deleteAnswersOf,
  deleteScansOf,
  lockTicketLists,
  type PresenceKey,
  putPresences,
  readPresences,
} from "../store/presences.ts";
import { type PositionFact, positionChanged as topic } from "../wire/position-fact.ts";
import { ticketKeyOf, toEarlierScan, toPositionCopy } from "./read-facts.ts";

/**
 * Keeps our copy of positions, the counts, and the scans of positions that were made elsewhere.
 *
 * Lock order, against deadlocks: positions, lists, counts of persons, presences; rows of one table in key order, or with
 * `skip locked`.
 */
export const positionChanged = consume(
  topic,
  async (tx, facts) => {
    const entities = collect(facts);
    await shareInserts(tx, keysOf(entities));
    await applyEntities(tx, entities);
  },
  { sweep: sweepPositions, copy: positions },
);

/** How far the clock of this process may be behind the clock of the database, in microseconds. */
const clockMargin = 5_000_000;

/**
 * Copies positions that boxoffice was asked for, encoded as in their topic; `askedAt` is in microseconds since 1970, by
 * the clock of the database. Positions deleted after `askedAt` are left out: the answer of boxoffice may be older.
 *
 * A visitor waits, so this gives up when a lock takes too long. Consumers of the topic queue behind its locks: so it
 * takes the insert lock only to add a position, and locks no position whose state is current.
 */
export async function applyFoundPositions(
  db: Db,
  { facts, askedAt }: { readonly facts: readonly Uint8Array[]; readonly askedAt: number },
): Promise<void> {
  const entities = collect(facts.map((bytes) => ({ key: "", value: topic.decode(bytes) })));
  const seen = byName(await readRevisions(db, keysOf(entities)));
  const wanted = entities.filter(({ key, newest }) => newest !== null && !isStale(newest, seen.get(nameOf(key))));
  if (wanted.length === 0) return;
  const missing = keysOf(wanted).filter((key) => !seen.has(nameOf(key)));
  const added = new Set(missing.map(nameOf));
  await db.transaction(async (tx) => {
    await waitBriefly(tx);
    if (missing.length > 0) await lockInserts(tx, missing);
    const held = byName(await lockPositions(tx, keysOf(wanted)));
    // Read after the locks: from here on none of these positions can be deleted.
    const deleted = byName(await findDeletedSince(tx, keysOf(wanted), askedAt - clockMargin));
    await applyEntities(
      tx,
      wanted.filter(({ key }) => !deleted.has(nameOf(key)) && (held.has(nameOf(key)) || added.has(nameOf(key)))),
    );
  });
}

/** Positions that one transaction of the sweep reads and deletes: few enough that a statement is quick. */
const sweptAtOnce = 500;

/** Deletes positions that a rebuild did not publish, as a tombstone would: with scans and counts, in lock order. */
async function sweepPositions(tx: Tx, { before }: { readonly before: number }): Promise<number> {
  // Read to the end first: scans wait for what is locked while tickets are deleted.
  const found: EntityKey[] = [];
  for (let after: EntityKey | undefined = firstKey; after !== undefined; ) {
    const { older, upTo }: Awaited<ReturnType<typeof findOlderPositions>> = await findOlderPositions(tx, {
      after,
      revision: before,
      count: sweptAtOnce,
    });
    after = upTo;
    found.push(...older);
  }
  let deleted = 0;
  for (let from = 0; from < found.length; from += sweptAtOnce) {
    const older = found.slice(from, from + sweptAtOnce);
    // A position that was created again since the read has a newer revision when it is locked.
    const lost = (await lockPositions(tx, older)).filter(({ revision }) => revision < before);
    await applyEntities(
      tx,
      lost.map(({ organizer, event, id }) => deletedEntity({ organizer, event, id })),
    );
    deleted += lost.length;
  }
  return deleted;
}

async function applyEntities(tx: Tx, entities: readonly Entity[]): Promise<void> {
  if (entities.length === 0) return;
  const held = byName(await lockPositions(tx, keysOf(entities)));
  const deleted: EntityKey[] = [];
  const changed: ReturnType<typeof toPositionCopy>[] = [];
  const moves: Move[] = [];
  const moveScans: Move[] = [];
  const buckets = new Map<string, Bucket | null>();
  for (const { key, deletedAt, newest } of entities) {
    const former = held.get(nameOf(key));
    // A position that boxoffice was asked for may have been stored before the deletion of its predecessor arrived.
    const wasDeleted = deletedAt !== undefined && deletedAt > (former?.revision ?? Number.NEGATIVE_INFINITY);
    if (wasDeleted) deleted.push(key);
    const before = wasDeleted ? undefined : former;
    const after = newest === null || isStale(newest, before) ? undefined : toPositionCopy(newest);
    if (after !== undefined) changed.push(after);
    const from = former?.bucket ?? null;
    const to = after === undefined ? (before?.bucket ?? null) : bucketOf(after);
    buckets.set(nameOf(key), to);
    if (hasMoved(from, to)) moves.push({ ...key, from, to });
    // The scans of a deleted position are deleted, even if the position was created again in the same bucket.
    const scansTo = wasDeleted ? null : to;
    if (former !== undefined && hasMoved(from, scansTo)) moveScans.push({ ...key, from, to: scansTo });
  }
  const earlier = entities.flatMap(({ earlierScans }) => earlierScans);
  await lockTicketLists(tx, { tickets: [...moveScans, ...deleted], deleted, keys: byPlace(earlier) });
  const scanned = entities.filter(({ earlierScans, deletedAt }) => earlierScans.length > 0 || deletedAt !== undefined);
  const lists = earlier.map(({ organizer, event, list: id }) => ({ organizer, event, id }));
  await lockCountsOf(tx, { tickets: keysOf(scanned), lists: [...byName(lists).values()] });
  await movePresences(tx, moveScans);
  await deleteScansOf(tx, deleted);
  const unanswered = await deleteAnswersOf(tx, deleted);
  await tx.retract(
    topics.answersGiven,
    unanswered.map(({ organizer, event, id }) => entityKey(organizer, event, id)),
  );
  await positions.delete(tx, deleted);
  await noteDeletedPositions(tx, deleted);
  await positions.upsert(tx, changed);
  await addCounts(tx, [...moves.flatMap(positionDeltas), ...(await applyEarlierScans(tx, earlier, buckets))]);
}

/** What the facts of one batch say about one position. */
interface Entity {
  readonly key: EntityKey;
  /** The position was deleted, whether or not it was created again; its states before that have lower revisions. */
  readonly deletedAt: number | undefined;
  /** Null: the position is deleted. */
  readonly newest: PositionFact | null;
  readonly earlierScans: readonly EarlierScan[];
}

const deletedEntity = (key: EntityKey, deletedAt = Number.POSITIVE_INFINITY): Entity => ({
  key,
  deletedAt,
  newest: null,
  earlierScans: [],
});

/** Positions that boxoffice was asked for have no deletions. */
type Deletion = Partial<Pick<Fact<PositionFact>, "deletedAt">>;

/** Groups facts by position. Earlier scans add up, because a later state need not repeat them. */
function collect(facts: readonly (Pick<Fact<PositionFact>, "key" | "value"> & Deletion)[]): Entity[] {
  const entities = new Map<string, Entity>();
  for (const { key: name, value, deletedAt } of facts) {
    const key = value === null ? toEntityKey(name) : ticketKeyOf(value);
    const known = entities.get(nameOf(key));
    if (value === null) {
      entities.set(nameOf(key), deletedEntity(key, deletedAt));
      continue;
    }
    const earlierScans = value.earlierCheckins.map((checkin) => toEarlierScan(value, checkin));
    entities.set(nameOf(key), {
      key,
      deletedAt: known?.deletedAt,
      newest: value,
      earlierScans: [...(known?.earlierScans ?? []), ...earlierScans],
    });
  }
  return [...entities.values()];
}

/** Reads the key of a tombstone. */
function toEntityKey(key: string): EntityKey {
  const { organizer, event, id } = parseEntityKey(key);
  return { organizer, event, id: Number(id) };
}

function isStale(fact: PositionFact, held: Pick<HeldPosition, "revision"> | undefined): boolean {
  return held !== undefined && held.revision >= fact.revision;
}

function positionDeltas({ organizer, event, from, to }: Move): CountDelta[] {
  const counts = { organizer, event, list: null, entered: 0, inside: 0 };
  return [
    ...(from === null ? [] : [{ ...counts, ...from, positions: -1 }]),
    ...(to === null ? [] : [{ ...counts, ...to, positions: 1 }]),
  ];
}

/** Adds scans made elsewhere to history and presences. Scans made here are never removed. */
async function applyEarlierScans(
  tx: Tx,
  scans: readonly EarlierScan[],
  buckets: ReadonlyMap<string, Bucket | null>,
): Promise<CountDelta[]> {
  const distinct = [...new Map(scans.map((scan) => [nameOfEarlierScan(scan), scan])).values()];
  const inOrder = distinct.sort((a, b) => a.at - b.at || a.importedId - b.importedId);
  const added = await addEarlierScans(tx, inOrder);
  const fresh = inOrder.filter((_, index) => added.has(index));
  const before = new Map((await readPresences(tx, byPlace(fresh))).map((row) => [placeOf(row), row.presence]));
  const after = new Map<string, PresenceKey & { presence: Presence }>();
  for (const scan of fresh) {
    const place = placeOf(scan);
    const presence = after.get(place)?.presence ?? before.get(place) ?? neverScanned;
    const { organizer, event, position, list } = scan;
    after.set(place, { organizer, event, position, list, presence: afterScan(presence, scan) });
  }
  await putPresences(tx, [...after.values()]);
  return [...after.values()].flatMap(({ presence, position, ...key }) => {
    const bucket = buckets.get(nameOf({ ...key, id: position })) ?? null;
    const change = countChange(before.get(placeOf({ ...key, position })) ?? neverScanned, presence);
    return bucket === null
      ? []
      : [{ organizer: key.organizer, event: key.event, ...bucket, list: key.list, positions: 0, ...change }];
  });
}

function keysOf(entities: readonly Entity[]): EntityKey[] {
  return entities.map(({ key }) => key);
}

function byName<T extends EntityKey>(rows: readonly T[]): Map<string, T> {
  return new Map(rows.map((row) => [nameOf(row), row]));
}

/** Groups scans by ticket and list: a ticket may have thousands on one list. */
function byPlace(scans: readonly EarlierScan[]): readonly EarlierScan[] {
  return [...new Map(scans.map((scan) => [placeOf(scan), scan])).values()];
}

function placeOf({ organizer, event, position, list }: PresenceKey): string {
  return `${organizer}/${event}/${position}/${list}`;
}
