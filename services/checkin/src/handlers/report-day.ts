import type { Readers, Zone } from "@tessera/admission";
import type { Clock } from "@tessera/kit/clock";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ReportDayRequest, ReportDayResponse } from "@tessera/protos/gen/ticketing/checkin/v1/day_report";
import { pick } from "@tessera/values";
import { nameItems } from "../domain/item-names.ts";
import { dayOf, findDay, followInside, type LocalDay, type Step, wallClock } from "../domain/local-day.ts";
import { fault } from "../faults.ts";
import {
  type DayOfTickets,
  findLastScan,
  followTickets,
  joinAsWhole,
  type ReportedDay,
  tallyProducts,
  tallyScans,
} from "../store/day-reports.ts";
import { requireEvent } from "../store/events.ts";
import { listItems } from "../store/items.ts";
import { findListNames } from "../store/lists.ts";
import { toDayReport } from "../wire/day-report.ts";
import { requireKnown } from "./unknown-ids.ts";

/** Scans that one statement follows: it sorts them, which takes half a second. */
const mostFollowed = 250_000;

/** As many reads as an organizer may run at a time. */
const atOnce = 2;

export interface ReportDeps {
  readonly reads: Reads;
  readonly clock: Clock;
  readonly readers: Pick<Readers, "zone">;
}

/** Counts the scans of a day, and how many were inside. A scan that is stored meanwhile may be in one count and not in another. */
export async function reportDay(
  request: ReportDayRequest,
  { reads, clock, readers }: ReportDeps,
): Promise<ReportDayResponse> {
  const { organizer, event, list, subevent } = request;
  const inTurn = <T>(read: (tx: Queryable) => Promise<T>) =>
    reads.inTurn(organizer, (db) =>
      db.transaction(async (tx) => {
        await joinAsWhole(tx);
        return read(tx);
      }),
    );
  const { info, zone, day, tallies } = await inTurn(async (db) => {
    const info = await requireEvent(db, request);
    const zone = readers.zone(info.timezone) ?? utc(readers);
    await requireKnown(db, request, { list, subevent });
    const day = await chooseDay(db, request, { zone, now: clock.now() });
    return { info, zone, day, tallies: await tallyScans(db, { organizer, event, list, subevent, ...day }) };
  });
  const asked: ReportedDay = { organizer, event, list, subevent, ...day };
  const scans = tallies.reduce((sum, { by, entries, exits }) => (by === "quarter" ? sum + entries + exits : sum), 0);
  const parts = Math.max(1, Math.ceil(scans / mostFollowed));
  const rest = inTurn(async (db) => ({
    products: await tallyProducts(db, asked),
    items: nameItems(await listItems(db, request), info.locale),
    lists: await findListNames(db, request),
  }));
  const [{ products, items, lists }, { insideBefore, steps }] = await Promise.all([
    rest,
    followParts(parts, (part) => inTurn((db) => followTickets(db, asked, { part, parts })), { besides: rest }),
  ]);
  const inside = followInside(day, { before: insideBefore, steps });
  return {
    ...toDayReport(
      { day, tallies, products, insideBefore, inside },
      { items, lists, wallClock: (at) => wallClock(at, zone) },
    ),
    ...{ timezone: zone.name, eventName: pick(info.name, info.locale), locale: info.locale },
    listName: list === undefined ? undefined : lists.get(list),
  };
}

function utc(readers: Pick<Readers, "zone">): Zone {
  const zone = readers.zone("UTC");
  if (zone === null) throw new Error("every system knows UTC");
  return zone;
}

/** The day that was asked for; else today, or the last day with scans. */
async function chooseDay(
  db: Queryable,
  { organizer, event, date }: ReportDayRequest,
  { zone, now }: { readonly zone: Zone; readonly now: number },
): Promise<LocalDay> {
  const today = dayOf(now, zone);
  if (date === undefined && today !== undefined) {
    const last = await findLastScan(db, { organizer, event, before: today.before });
    return (last === null ? undefined : dayOf(last, zone)) ?? today;
  }
  const day = date === undefined ? undefined : findDay(date, zone);
  if (day !== undefined) return day;
  throw fault("invalid_filter", "This is not a date.", { fields: { date: ["This is not a date: write YYYY-MM-DD."] } });
}

/** Follows all parts of the tickets, concurrently within the limit of the organizer, of which another read uses one. */
async function followParts(
  parts: number,
  follow: (part: number) => Promise<DayOfTickets>,
  { besides }: { readonly besides: Promise<unknown> },
): Promise<DayOfTickets> {
  let [next, insideBefore] = [0, 0];
  const changes = new Map<number, number>();
  const followNext = async () => {
    while (next < parts) {
      const found = await follow(next++);
      insideBefore += found.insideBefore;
      for (const { second, change } of found.steps) changes.set(second, (changes.get(second) ?? 0) + change);
    }
  };
  const runs = Array.from({ length: atOnce - 1 }, followNext);
  await Promise.all([...runs, besides.then(followNext)]);
  const steps = Array.from(changes, ([second, change]): Step => ({ second, change }));
  return { insideBefore, steps: steps.sort((one, other) => one.second - other.second) };
}
