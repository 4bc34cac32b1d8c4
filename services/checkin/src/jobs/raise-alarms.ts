import type { Clock } from "@tessera/kit/clock";
import type { Job } from "@tessera/kit/jobs/interval";
import { leadOnce } from "@tessera/kit/jobs/leader";
import type { Db } from "@tessera/kit/pg/database";
import { declareLock } from "@tessera/kit/pg/locks";
import type { Reads } from "@tessera/kit/pg/reads";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import { keepSample } from "@tessera/kit/telemetry/sample";
import { topics } from "@tessera/protos/topics";
import { alarmKinds } from "@tessera/resources/alarm";
import { LRUCache } from "lru-cache";
import { compareAlarms, decideAlarms } from "../domain/decide-alarms.ts";
import { alarmMemory, GateScans } from "../domain/gate-cells.ts";
import { readQueues } from "../store/device-queues.ts";
import { countGateScans, findWatchedEvents, type WatchedEvent } from "../store/gate-scans.ts";
import type { EventKey } from "../store/keys.ts";
import { readLimits } from "../store/persons-inside.ts";
import { publishFacts } from "../store/publish-facts.ts";
import {
  countOpenAlarms,
  deleteOldAlarms,
  endAlarms,
  mostOldAlarms,
  type OpenCount,
  raiseAlarms as raise,
  readOpenAlarms,
} from "../store/stored-alarms.ts";
import { toAlarmFact } from "../wire/alarm-messages.ts";

const alarmLock = declareLock("tessera checkin alarms");

const everyMs = 10_000;

/** Scans are kept without a limit, and have the older history. */
const keptDays = 30;

const eventsAtATime = 1000;

/** About 150 bytes each. For events beyond this limit each run counts all scans of the last 20 minutes. */
const mostCells = 300_000;

export interface AlarmTools {
  readonly db: Db;
  readonly reads: Reads;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/**
 * Raises and ends the alarms of all events that had scans lately.
 *
 * One replica at a time does it, to spare the database. Correctness needs no leader, and survives a kill at any point: an alarm that is
 * open already is not raised, one that has ended does not end, and each change is in a transaction with its fact. What a process
 * remembers of an event it could read again. An event that fails does not stop the others: the first failure is thrown at the end.
 */
export function raiseAlarms(tools: AlarmTools): Job {
  const { db, reads, clock } = tools;
  const remembered = new LRUCache<string, GateScans>({ maxSize: mostCells });
  const measure = measureAlarms(tools);

  async function lead(signal: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    const now = Math.floor(clock.now() / 1_000_000);
    for (let after: EventKey | undefined, isMore = true; isMore && !signal.aborted; ) {
      const found: WatchedEvent[] = await findWatchedEvents(db, {
        after,
        since: now - alarmMemory,
        limit: eventsAtATime,
      });
      for (const event of found) {
        if (signal.aborted) break;
        await watch(event, now).catch((error: unknown) => failures.push(error));
      }
      after = found.at(-1);
      isMore = found.length === eventsAtATime;
    }
    while (!signal.aborted && (await deleteOldAlarms(db, { days: keptDays })) === mostOldAlarms);
    if (failures.length > 0) throw failures[0];
  }

  async function watch(event: WatchedEvent, now: number): Promise<void> {
    const { isActive, hasAlarms } = event;
    // An event that is made again under its name must not have the scans of the former one.
    if (!isActive) remembered.delete(keyOf(event));
    if (!isActive && !hasAlarms) return;
    const scans = isActive ? await readScans(event, now) : new GateScans();
    const queues = isActive ? await readQueues(db, event) : [];
    const limits = await readLimits(db, event);
    const open = hasAlarms ? await readOpenAlarms(db, event) : [];
    const { raised, ended } = compareAlarms(decideAlarms({ now, cells: scans.cells, queues, limits, open }), open);
    if (raised.length === 0 && ended.length === 0) return;
    await db.transaction(async (tx) => {
      const changed = [
        ...(await endAlarms(
          tx,
          event,
          ended.map(({ id }) => id),
        )),
        ...(await raise(tx, event, raised)),
      ];
      await publishFacts(tx, topics.alarmChanged.name, changed.map(toAlarmFact));
    });
  }

  async function readScans(event: WatchedEvent, now: number): Promise<GateScans> {
    const scans = remembered.get(keyOf(event)) ?? new GateScans();
    const from = scans.readFrom(now);
    // A plan for all values would read all scans of an event for those of the last seconds.
    const cells = await reads
      .inTurn(event.organizer, (on) => countGateScans(on, { ...event, from, now }))
      .catch((error: unknown) => {
        scans.giveUpPast(now);
        remembered.set(keyOf(event), scans, { size: 1 });
        throw error;
      });
    scans.take(now, { from, cells });
    remembered.set(keyOf(event), scans, { size: Math.max(1, scans.cells.length) });
    return scans;
  }

  return {
    name: "raise-alarms",
    everyMs,
    async run(signal) {
      await leadOnce(db, { lock: alarmLock(), signal }, lead);
      await measure();
    },
  };
}

/** Shows how many alarms hold; each process for itself, so that no series ends when the leader changes. */
function measureAlarms({ db, clock, metrics }: Omit<AlarmTools, "reads">): () => Promise<void> {
  const sample = keepSample<ReadonlyMap<string, OpenCount>>(clock);
  for (const kind of alarmKinds) {
    const help = "Alarms of events that hold.";
    metrics.gauge("checkin_alarms_open", help, () => sample.read().get(kind)?.open ?? 0, { kind });
    const unseen = "Alarms that hold, and that no one has acknowledged.";
    metrics.gauge("checkin_alarms_unacknowledged", unseen, () => sample.read().get(kind)?.unacknowledged ?? 0, {
      kind,
    });
  }
  return async () => {
    sample.keep(new Map((await countOpenAlarms(db)).map((count) => [count.kind, count])));
  };
}

const keyOf = ({ organizer, event }: EventKey) => `${organizer}/${event}`;
