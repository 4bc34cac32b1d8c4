import { setImmediate } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import type {
  FindOverbookedRequest,
  FindOverbookedResponse,
  OverbookedQuota,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/quotas";
import { computeAvailability } from "../domain/availability.ts";
import type { Scope } from "../domain/scope.ts";
import { fault } from "../faults.ts";
import { readLimitedQuotas, readTaken } from "../store/capacity.ts";

/** One statement reads all of them. */
const mostEvents = 1000;

/** The first of them show what is wrong. */
const mostReported = 100;

/** A series has thousands of quotas. Other calls run in between. */
const quotasPerTurn = 1000;

/** Finds the overbooked quotas of events. */
export async function findOverbooked(
  { events }: FindOverbookedRequest,
  { db }: { db: Db },
): Promise<FindOverbookedResponse> {
  if (events.length > mostEvents) throw fault("too_many_events", `ask about ${mostEvents} events at most`);
  const scopes = [...new Map(events.map((event) => [placeOf(event), event])).values()];
  const quotas = await readLimitedQuotas(db, scopes);
  // A quota counts positions of its own date alone, and a series has many dates.
  const taken = Map.groupBy(quotas.length === 0 ? [] : await readTaken(db, scopes), dateOf);
  const overbooked: OverbookedQuota[] = [];
  for (const [index, quota] of quotas.entries()) {
    if (overbooked.length === mostReported) break;
    if (index % quotasPerTurn === quotasPerTurn - 1) await setImmediate();
    const { left, taken: all } = computeAvailability(quota, taken.get(dateOf(quota)) ?? []);
    const { organizer, event, id, size } = quota;
    if (size !== null && left !== null && left < 0) overbooked.push({ organizer, event, id, size, taken: all });
  }
  return { quotas: overbooked };
}

function placeOf({ organizer, event }: Scope): string {
  return `${organizer}/${event}`;
}

function dateOf(row: Scope & { readonly subevent: number | null }): string {
  return `${placeOf(row)}/${row.subevent}`;
}
