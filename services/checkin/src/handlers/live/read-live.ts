import { Fault } from "@tessera/kit/fault";
import type { Reads } from "@tessera/kit/pg/reads";
import { shareAnswers } from "@tessera/kit/waiting/share-answers";
import type {
  ReadLastHourRequest,
  ReadLastHourResponse,
  ReadLiveRequest,
  ReadLiveResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/live";
import { LRUCache } from "lru-cache";
import { DoubleCounts } from "../../domain/double-filter.ts";
import { RecentInside } from "../../domain/recent-inside.ts";
import { RecentScans } from "../../domain/scan-cells.ts";
import { countEachList } from "../../store/counts.ts";
import { requireEvent } from "../../store/events.ts";
import type { EventKey } from "../../store/keys.ts";
import { countLastHour, countScansSince, findRefusalsSince, readSecond } from "../../store/recent-scans.ts";
import { readOpenAlarms } from "../../store/stored-alarms.ts";
import { toLive, toMinute } from "../../wire/live.ts";
import { readAllDoubles } from "../doubles/read-doubles.ts";

export interface LiveDeps {
  readonly live: LiveEvents;
}

/** Reads the counts of the lists, the scans of the last minute, and the alarms that hold. */
export async function readLive({ organizer, event }: ReadLiveRequest, { live }: LiveDeps): Promise<ReadLiveResponse> {
  return live.read({ organizer, event });
}

export async function readLastHour(
  { organizer, event }: ReadLastHourRequest,
  { live }: LiveDeps,
): Promise<ReadLastHourResponse> {
  return live.readHour({ organizer, event });
}

export interface LiveEvents {
  read(place: EventKey): Promise<ReadLiveResponse>;
  readHour(place: EventKey): Promise<ReadLastHourResponse>;
}

/** Gateways ask once a second each. */
const keptMs = 900;
const doublesKeptMs = 10_000;
const hourKeptMs = 10_000;

/** An event that no gateway has asked for within this time leaves the cache. */
const idleMs = 60_000;
const mostEvents = 500;

/** More lists fit no screen. */
const mostLists = 500;
const mostRefusals = 20;
const mostAlarms = 100;

const shared = { longestMs: 10_000, most: mostEvents };

interface Recent {
  readonly scans: RecentScans;
  readonly inside: RecentInside;
}

interface KnownDoubles {
  /** Undefined: there are too many to count. */
  readonly counts: DoubleCounts | undefined;
}

/** Reads each event once, however many ask for it at the same time. */
export function openLiveEvents(reads: Reads): LiveEvents {
  const recent = new LRUCache<string, Recent>({ max: mostEvents, ttl: idleMs, updateAgeOnGet: true });
  const shareDoubles = shareAnswers<KnownDoubles>({ ...shared, keptMs: doublesKeptMs });
  const shareLive = shareAnswers<ReadLiveResponse>({ ...shared, keptMs });
  const shareHour = shareAnswers<ReadLastHourResponse>({ ...shared, keptMs: hourKeptMs });

  async function read(place: EventKey): Promise<ReadLiveResponse> {
    await reads.inTurn(place.organizer, (db) => requireEvent(db, place));
    const key = keyOf(place);
    const { counts } = await shareDoubles(key, () => readDoubles(reads, place));
    const known = recent.get(key) ?? { scans: new RecentScans(), inside: new RecentInside() };
    recent.set(key, known);
    const { scans, inside } = known;
    return reads.inTurn(place.organizer, async (db) => {
      const now = await readSecond(db);
      const from = scans.readFrom(now);
      const asked = { ...place, since: from };
      // One after the other: each takes a connection that searches need, too.
      const lists = await countEachList(db, { ...place, most: mostLists });
      const alarms = await readOpenAlarms(db, place);
      const readScans = async () => ({
        cells: await countScansSince(db, asked),
        refusals: await findRefusalsSince(db, { ...asked, most: mostRefusals }),
      });
      const { cells, refusals } = await readScans().catch((error: unknown) => {
        scans.giveUpPast(now);
        throw error;
      });
      scans.take(now, { from, cells, refusals });
      for (const { id, persons } of lists) if (persons !== null) inside.note(id, { at: now, persons });
      return toLive({ now, lists, scans, inside, doubles: counts, alarms: alarms.slice(0, mostAlarms) });
    });
  }

  async function readHour(place: EventKey): Promise<ReadLastHourResponse> {
    return reads.inTurn(place.organizer, async (db) => {
      await requireEvent(db, place);
      const at = (await readSecond(db)) * 1_000_000;
      return { at, minutes: (await countLastHour(db, place)).map(toMinute) };
    });
  }

  return {
    read: (place) => shareLive(keyOf(place), () => read(place)),
    readHour: (place) => shareHour(keyOf(place), () => readHour(place)),
  };
}

/** Counting the doubles of an event decides all scans that may be part of one. */
async function readDoubles(reads: Reads, place: EventKey): Promise<KnownDoubles> {
  const counts = new DoubleCounts();
  const always = { since: undefined, before: undefined };
  const filter = { created: always, scanned: always };
  try {
    await reads.inTurn(place.organizer, (db) =>
      readAllDoubles(db, place, { filter, add: (double) => counts.add(double) }),
    );
    return { counts };
  } catch (error) {
    if (error instanceof Fault && error.code === "too_many_doubtful") return { counts: undefined };
    throw error;
  }
}

function keyOf({ organizer, event }: EventKey): string {
  return `${organizer}/${event}`;
}
