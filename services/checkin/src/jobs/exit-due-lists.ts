import type { Clock } from "@tessera/kit/clock";
import type { Job } from "@tessera/kit/jobs/interval";
import { leadOnce } from "@tessera/kit/jobs/leader";
import { pause } from "@tessera/kit/pause";
import type { Db } from "@tessera/kit/pg/database";
import { declareLock } from "@tessera/kit/pg/locks";
import { topics } from "@tessera/protos/topics";
import { nextExit } from "../domain/next-exit.ts";
import { afterScan, countChange } from "../domain/presence.ts";
import type { CheckinEvents } from "../events.ts";
import type { Readers } from "../readers.ts";
import { findInside, findNextInside, type InsideTicket, type Stretch } from "../store/automatic-exits.ts";
import { type DueList, findDueLists, moveExit } from "../store/due-lists.ts";
import { type ScanToStore, storeScans } from "../store/store-scans.ts";
import { toScanFact } from "../wire/scan-fact.ts";

const exitLock = declareLock("tessera checkin automatic exit");

/** An exit is handled within 15 seconds, and a large list takes most of them. */
const everyMs = 1000;

/** Few enough that a scan of one of them waits only briefly. */
const defaultTicketsAtATime = 300;

/** Lists that are handled at a time; others follow when one is complete. */
const mostLists = 100;

/** Before the next read of tickets that other transactions lock. */
const restMs = 100;

/** Then this run ends; the next one retries what failed. */
const mostRests = 20;

export interface ExitTools {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: CheckinEvents;
  readonly readers: Pick<Readers, "zone">;
  readonly ticketsAtATime?: number;
}

/**
 * Checks all tickets out of the lists with an automatic exit that is due, and moves that exit to the next day.
 *
 * One replica at a time does it, to spare the gates. It is correct with several, and wherever it is killed: the remaining
 * work is read from the scans themselves, each exit is stored only if the presence is unchanged since the decision, and a
 * list moves to its next exit only if it is unchanged and no ticket is left. A list that fails does not stop the others:
 * the first failure is thrown, and so logged, when all are handled.
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

/** An exit that is being handled. */
interface Handling {
  readonly list: DueList;
  /** The last ticket that was read; undefined when all were. */
  readonly after: number | undefined;
  /** Tickets that another transaction locked: they are read again. */
  readonly left: readonly number[];
  readonly exits: number;
}

/** Takes one stretch of every due list in turn, so that a small one does not wait for a large one. */
async function handleInTurns(tools: ExitTools, signal: AbortSignal): Promise<void> {
  const underWay = new Map<string, Handling>();
  const over = new Set<string>();
  const failures: unknown[] = [];
  for (let rests = 0; rests < mostRests && !signal.aborted; ) {
    for (const list of await findDueLists(tools.db, { now: tools.clock.now(), limit: mostLists + over.size })) {
      const name = `${list.organizer}/${list.event}/${list.id} ${list.exit.at}`;
      if (!underWay.has(name) && !over.has(name)) underWay.set(name, { list, after: 0, left: [], exits: 0 });
    }
    if (underWay.size === 0) break;
    let isStuck = true;
    for (const [name, handling] of underWay) {
      if (signal.aborted) break;
      let next: Handling | undefined;
      try {
        next = await handleStretch(tools, handling);
      } catch (error) {
        failures.push(error);
      }
      if (next === undefined) {
        underWay.delete(name);
        over.add(name);
      } else underWay.set(name, next);
      isStuck &&= next?.after === handling.after && next?.exits === handling.exits;
    }
    rests = isStuck ? rests + 1 : 0;
    if (isStuck) await pause(restMs, signal);
  }
  if (failures.length > 0) throw failures[0];
}

/** Undefined: the list is complete, or was changed. */
async function handleStretch(tools: ExitTools, { list, ...handling }: Handling): Promise<Handling | undefined> {
  const { db, events, ticketsAtATime: limit = defaultTicketsAtATime } = tools;
  const looked = handling.left.slice(0, limit);
  const stretch: Stretch = handling.after === undefined ? { positions: looked } : { after: handling.after, limit };
  const found = await findInside(db, list, stretch);
  if (found === undefined) return undefined;
  const stored = await letOut(db, list, found.inside);
  const unlooked = handling.after === undefined ? handling.left.slice(limit) : handling.left;
  const again = found.inside.flatMap(({ position }) => (stored.has(position) ? [] : [position]));
  const left = [...unlooked, ...again];
  const exits = handling.exits + stored.size;
  if (left.length > 0 || found.upTo !== undefined) return { list, after: found.upTo, left, exits };
  if (await moveOn(tools, list)) events.listExited({ ...list, list: list.id }, { exits });
  return undefined;
}

/** Returns the tickets that were checked out; the others are to be read again. */
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
    admission: { presence: after, ...countChange(presence, after) },
    refusal: null,
    fact: toScanFact({ ...scan, reason: null }),
  };
}

/** If later exits are due as well, it skips to the first at which a ticket is inside: there may be centuries of them. */
async function moveOn({ db, clock, readers }: ExitTools, list: DueList): Promise<boolean> {
  const { exit, timezone } = list;
  const zone = readers.zone(timezone);
  if (zone === null) throw new RangeError(`there is no time zone ${timezone}`);
  const now = clock.now();
  const next = nextExit(exit, { zone, notBefore: exit.at });
  if (next.at > now) return moveExit(db, list, next);
  const insideAt = await findNextInside(db, list);
  return moveExit(db, list, nextExit(exit, { zone, notBefore: Math.min(insideAt ?? now, now) }));
}
