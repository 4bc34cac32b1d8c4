import { afterScan, countChange, type Readers } from "@tessera/admission";
import type { Clock } from "@tessera/kit/clock";
import type { Job } from "@tessera/kit/jobs/interval";
import { leadOnce } from "@tessera/kit/jobs/leader";
import type { Db } from "@tessera/kit/pg/database";
import { declareLock } from "@tessera/kit/pg/locks";
import { pause } from "@tessera/kit/waiting/pause";
import { topics } from "@tessera/protos/topics";
import { nextExit } from "../domain/next-exit.ts";
import type { CheckinEvents } from "../report-events.ts";
import {
  type Batch,
  findInside,
  findNextInside,
  type InsideTicket,
  type NextInside,
} from "../store/automatic-exits.ts";
import { type DueList, findDueLists, moveExit } from "../store/due-lists.ts";
import { type ScanToStore, storeScans } from "../store/store-scans.ts";
import { toScanFact } from "../wire/scan-fact.ts";

const exitLock = declareLock("tessera checkin automatic exit");

/** An exit is handled within 15 seconds, most of which a large list takes. */
const everyMs = 1000;

/** Few enough that a scan of a locked ticket waits only briefly. */
const defaultTicketsAtATime = 1000;

/** Batches that are stored concurrently. More would only take CPU from the gates. */
const defaultStoredAtOnce = 2;

/** Lists that are handled concurrently; others follow when a list is complete. */
const mostLists = 100;

/** Tickets per statement when searching for a later exit: large, so that statements are few. */
const defaultSearchedAtOnce = 20_000;

/** The backoff before locked tickets are read again. */
const restMs = 100;

/** After this many pauses the run ends; the next run retries. */
const mostRests = 20;

export interface ExitTools {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: CheckinEvents;
  readonly readers: Pick<Readers, "zone">;
  readonly ticketsAtATime?: number;
  readonly storedAtOnce?: number;
  readonly searchedAtOnce?: number;
}

/**
 * Checks all tickets out of the lists with an automatic exit that is due, and moves that exit to the next day.
 *
 * One replica at a time does it, to spare the gates. Correctness needs no leader, and survives a kill at any point: the
 * remaining work is read from the scans, an exit is stored only if the presence is unchanged since the decision, and a
 * list moves to its next exit only if the list is unchanged and no ticket is left. A list that fails does not stop the
 * others: the first failure is thrown when all are handled.
 */
export function exitDueLists(tools: ExitTools): Job {
  return {
    name: "exit-due-lists",
    everyMs,
    async run(signal) {
      if ((await findDueLists(tools.db, { now: tools.clock.now(), limit: 1 })).length === 0) return;
      await leadOnce(tools.db, { lock: exitLock(), signal }, (leading) => handleInTurns(tools, leading));
    },
  };
}

interface Handling {
  readonly list: DueList;
  /** The keyset cursor: the last ticket that was read; undefined: all were read. */
  after: number | undefined;
  /** Tickets that another transaction had locked: they are read again. */
  left: readonly number[];
  exits: number;
  /** The number of batches being stored. */
  storing: number;
  failed: boolean;
}

/**
 * Takes one batch of every due list in turn, so that a small list does not wait for a large one. The next batches
 * are read while earlier ones are stored.
 */
async function handleInTurns(tools: ExitTools, signal: AbortSignal): Promise<void> {
  const { db, clock, storedAtOnce = defaultStoredAtOnce } = tools;
  const underWay = new Map<string, Handling>();
  const over = new Set<string>();
  const failures: unknown[] = [];
  const storing = new Set<Promise<void>>();

  function store(handling: Handling, inside: readonly InsideTicket[]): void {
    handling.storing += 1;
    const stored = letOut(db, handling.list, inside)
      .then(
        (positions) => {
          handling.exits += positions.size;
          const locked = inside.flatMap(({ position }) => (positions.has(position) ? [] : [position]));
          handling.left = [...handling.left, ...locked];
        },
        (error: unknown) => {
          failures.push(error);
          handling.failed = true;
        },
      )
      .finally(() => {
        handling.storing -= 1;
        storing.delete(stored);
      });
    storing.add(stored);
  }

  /** Returns whether there was something to do now. */
  async function handleBatch(name: string, handling: Handling): Promise<boolean> {
    const isOver = handling.failed || (await isComplete(tools, handling));
    if (isOver) {
      underWay.delete(name);
      over.add(name);
      return true;
    }
    const batch = nextBatch(handling, tools.ticketsAtATime ?? defaultTicketsAtATime);
    if (batch === undefined) return false;
    const found = await findInside(db, handling.list, batch);
    if (found === undefined) {
      handling.failed = true;
      return true;
    }
    const isRetry = handling.after === undefined;
    handling.after = found.upTo;
    while (storing.size >= storedAtOnce) await Promise.race(storing);
    const before = handling.exits;
    if (found.inside.length > 0) store(handling, found.inside);
    if (!isRetry || found.inside.length === 0) return true;
    // Only the store tells whether locked tickets are still locked.
    await Promise.all(storing);
    return handling.exits > before;
  }

  try {
    for (let rests = 0; rests < mostRests && !signal.aborted; ) {
      for (const list of await findDueLists(db, { now: clock.now(), limit: mostLists + over.size })) {
        const name = `${list.organizer}/${list.event}/${list.id} ${list.exit.at}`;
        if (underWay.has(name) || over.has(name)) continue;
        underWay.set(name, { list, after: 0, left: [], exits: 0, storing: 0, failed: false });
      }
      if (underWay.size === 0) break;
      let isStuck = true;
      for (const [name, handling] of underWay) {
        if (signal.aborted) break;
        try {
          if (await handleBatch(name, handling)) isStuck = false;
        } catch (error) {
          failures.push(error);
          handling.failed = true;
          isStuck = false;
        }
      }
      if (isStuck && storing.size > 0) await Promise.race(storing);
      else {
        rests = isStuck ? rests + 1 : 0;
        if (isStuck) await pause(restMs, signal);
      }
    }
  } finally {
    // No write outlives the run.
    await Promise.all(storing);
  }
  if (failures.length > 0) throw failures[0];
}

/** Takes the next tickets to read; undefined: no more before the pending stores are done. */
function nextBatch(handling: Handling, limit: number): Batch | undefined {
  const { after, left } = handling;
  if (after !== undefined) return { after, limit };
  if (left.length === 0) return undefined;
  handling.left = left.slice(limit);
  return { positions: left.slice(0, limit) };
}

/** Whether no ticket is left; if so, the list moves to its next exit. */
async function isComplete(tools: ExitTools, { list, after, left, storing, exits }: Handling): Promise<boolean> {
  if (after !== undefined || left.length > 0 || storing > 0) return false;
  if (await moveOn(tools, list)) tools.events.listExited({ ...list, list: list.id }, { exits });
  return true;
}

/** Returns the tickets that were checked out; the others are read again. */
async function letOut(db: Db, list: DueList, inside: readonly InsideTicket[]): Promise<Set<number>> {
  if (inside.length === 0) return new Set();
  const scans = inside.map((ticket) => toExit(list, ticket));
  const stored = await storeScans(db, { topic: topics.scanDecided.name, scans, asRead: list });
  return new Set(inside.filter((_, index) => stored.has(index)).map(({ position }) => position));
}

function toExit({ organizer, event, id, exit }: DueList, { position, scanId, presence }: InsideTicket): ScanToStore {
  const scan = { organizer, event, id: scanId, list: id, position, type: "exit", at: exit.at } as const;
  const after = afterScan(presence, { type: "exit", at: exit.at });
  return {
    ...scan,
    isAutomatic: true,
    // Counts are locked before presences, as scans do.
    isLimited: true,
    admission: { presence: after, ...countChange(presence, after) },
    refusal: null,
    fact: toScanFact({ ...scan, reason: null }),
  };
}

/** If later exits are due as well, skips to the first with a ticket inside: centuries of days may be due. */
async function moveOn(
  { db, clock, readers, searchedAtOnce = defaultSearchedAtOnce }: ExitTools,
  list: DueList,
): Promise<boolean> {
  const { exit, timezone } = list;
  const zone = readers.zone(timezone);
  if (zone === null) throw new RangeError(`there is no time zone ${timezone}`);
  const now = clock.now();
  const next = nextExit(exit, { zone, notBefore: exit.at });
  if (next.at > now) return moveExit(db, list, next);
  let insideAt: number | null = null;
  for (let after: number | undefined = 0; after !== undefined && insideAt !== exit.at; ) {
    const found: NextInside = await findNextInside(db, list, { after, limit: searchedAtOnce });
    insideAt = earliest(insideAt, found.insideAt);
    after = found.upTo;
  }
  return moveExit(db, list, nextExit(exit, { zone, notBefore: Math.min(insideAt ?? now, now) }));
}

function earliest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
