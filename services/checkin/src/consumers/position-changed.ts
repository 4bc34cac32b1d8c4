import { type Consumer, consume, type Fact } from "@tessera/kit/bus/consume";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { entityKey, topics } from "@tessera/protos/topics";
import { type Bucket, bucketOf, hasMoved } from "../domain/bucket.ts";
import { afterScan, countChange, neverScanned, type Presence } from "../domain/presence.ts";
import { type PositionFact, positionChanged as topic } from "../position-fact.ts";
import { addCounts, type CountDelta, type Move, movePresences } from "../store/counts.ts";
import { addEarlierScans, type EarlierScan, nameOfEarlierScan } from "../store/earlier-scans.ts";
import { type EntityKey, removeEntities } from "../store/keys.ts";
import {
  addAlone,
  addAmongOthers,
  beforeAll,
  findOlderPositions,
  type HeldPosition,
  lockPositions,
  type PositionCopy,
  putPositions,
} from "../store/positions.ts";
import {
  forgetAnswersOf,
  forgetScansOf,
  holdLists,
  type PresenceKey,
  putPresences,
  readPresences,
} from "../store/presences.ts";
import { ticketKeyOf, toEarlierScan, toPositionCopy } from "../wire-facts.ts";
import { toEntityKey } from "./newest-states.ts";

/**
 * Keeps our copy of positions, what they count as, and the scans that were made
 * of them elsewhere.
 *
 * Positions first, then lists, then presences: who else takes several of them
 * takes them in this order, or does not wait.
 */
export function positionChanged(db: Db): Consumer {
  return consume(
    topic,
    db,
    async (tx, facts) => {
      await addAmongOthers(tx);
      await applyEntities(tx, collect(facts));
    },
    { sweep: sweepPositions },
  );
}

/** Takes over positions that boxoffice was asked for, encoded as in their topic. */
export async function takeOverPositions(db: Db, facts: readonly Uint8Array[]): Promise<void> {
  const entities = collect(facts.map((bytes) => ({ key: "", value: topic.decode(bytes) })));
  await db.transaction(async (tx) => {
    await addAlone(tx);
    await applyEntities(tx, entities);
  });
}

/** So many positions are looked at, and removed, at a time that a statement is quick. */
const sweptAtOnce = 500;

/** Removes lost positions as a tombstone would, with their scans and what they count, in the order in which all lock them. */
async function sweepPositions(tx: Tx, { before }: { readonly before: number }): Promise<number> {
  let removed = 0;
  for (let after: EntityKey | undefined = beforeAll; after !== undefined; ) {
    const { older, upTo }: Awaited<ReturnType<typeof findOlderPositions>> = await findOlderPositions(tx, {
      after,
      revision: before,
      count: sweptAtOnce,
    });
    after = upTo;
    if (older.length === 0) continue;
    // One may have come anew since it was found: then it has a newer state by the time it is held.
    const lost = (await lockPositions(tx, older)).filter(({ revision }) => revision < before);
    const gone = lost.map(({ organizer, event, id }) => ({ organizer, event, id }));
    await applyEntities(
      tx,
      gone.map((key) => ({ key, went: true, newest: null, earlierScans: [] })),
    );
    removed += gone.length;
  }
  return removed;
}

async function applyEntities(tx: Tx, entities: readonly Entity[]): Promise<void> {
  const keys = entities.map(({ key }) => key);
  const held = new Map((await lockPositions(tx, keys)).map((row) => [nameOf(row), row]));
  const gone = entities.filter(({ went }) => went).map(({ key }) => key);
  const changed: PositionCopy[] = [];
  const moves: Move[] = [];
  const moveScans: Move[] = [];
  const buckets = new Map<string, Bucket | null>();
  for (const { key, went, newest } of entities) {
    const former = held.get(nameOf(key));
    const before = went ? undefined : former;
    const after = newest === null || isStale(newest, before) ? undefined : toPositionCopy(newest);
    if (after !== undefined) changed.push(after);
    const from = former?.bucket ?? null;
    const to = after === undefined ? (before?.bucket ?? null) : bucketOf(after);
    buckets.set(nameOf(key), to);
    if (hasMoved(from, to)) moves.push({ ...key, from, to });
    // What went takes its scans with it, even if it came again in the same bucket.
    const scansTo = went ? null : to;
    if (former !== undefined && hasMoved(from, scansTo)) moveScans.push({ ...key, from, to: scansTo });
  }
  const earlier = entities.flatMap(({ earlierScans }) => earlierScans);
  await holdLists(tx, { tickets: moveScans, keys: earlier });
  await movePresences(tx, moveScans);
  await forgetScansOf(tx, gone);
  const unanswered = await forgetAnswersOf(tx, gone);
  await tx.retract(
    topics.answersGiven,
    unanswered.map(({ organizer, event, id }) => entityKey(organizer, event, id)),
  );
  await removeEntities(tx, "position", gone);
  await putPositions(tx, changed);
  await addCounts(tx, [...moves.flatMap(universeDeltas), ...(await takeOver(tx, earlier, buckets))]);
}

/** What the facts of one batch say of one position. */
interface Entity {
  readonly key: EntityKey;
  /** It was removed, whether or not it came again. */
  readonly went: boolean;
  /** Null: it did not come again. */
  readonly newest: PositionFact | null;
  readonly earlierScans: readonly EarlierScan[];
}

/** Gathers facts by position. Earlier scans add up, because a later state need not repeat them. */
function collect(facts: readonly Pick<Fact<PositionFact>, "key" | "value">[]): Entity[] {
  const entities = new Map<string, Entity>();
  for (const { key: name, value } of facts) {
    const key = value === null ? toEntityKey(name) : ticketKeyOf(value);
    const known = entities.get(nameOf(key));
    if (value === null) {
      entities.set(nameOf(key), { key, went: true, newest: null, earlierScans: [] });
      continue;
    }
    const earlierScans = value.earlierCheckins.map((checkin) => toEarlierScan(value, checkin));
    entities.set(nameOf(key), {
      key,
      went: known?.went ?? false,
      newest: value,
      earlierScans: [...(known?.earlierScans ?? []), ...earlierScans],
    });
  }
  return [...entities.values()];
}

function isStale(fact: PositionFact, held: HeldPosition | undefined): boolean {
  return held !== undefined && held.revision >= fact.revision;
}

function universeDeltas({ organizer, event, from, to }: Move): CountDelta[] {
  const counts = { organizer, event, list: null, entered: 0, inside: 0 };
  return [
    ...(from === null ? [] : [{ ...counts, ...from, positions: -1 }]),
    ...(to === null ? [] : [{ ...counts, ...to, positions: 1 }]),
  ];
}

/** Adds scans made elsewhere to history and presences. They add, and never remove what was scanned here. */
async function takeOver(
  tx: Tx,
  scans: readonly EarlierScan[],
  buckets: ReadonlyMap<string, Bucket | null>,
): Promise<CountDelta[]> {
  const distinct = [...new Map(scans.map((scan) => [nameOfEarlierScan(scan), scan])).values()];
  const inOrder = distinct.sort((a, b) => a.at - b.at || a.importedId - b.importedId);
  const added = await addEarlierScans(tx, inOrder);
  const fresh = inOrder.filter((_, index) => added.has(index));
  const before = new Map((await readPresences(tx, fresh)).map((row) => [placeOf(row), row.presence]));
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

function nameOf({ organizer, event, id }: EntityKey): string {
  return `${organizer}/${event}/${id}`;
}

function placeOf({ organizer, event, position, list }: PresenceKey): string {
  return `${organizer}/${event}/${position}/${list}`;
}
