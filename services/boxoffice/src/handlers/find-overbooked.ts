import { setImmediate } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import type {
  FindOverbookedRequest,
  FindOverbookedResponse,
  OverbookedQuota,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/quotas";
import { computeAvailability, type Taken } from "../domain/availability.ts";
import type { Scope } from "../domain/scope.ts";
import { fault } from "../faults.ts";
import { readLimitedQuotas, readTaken } from "../store/capacity.ts";

/** What a caller asks about at a time is read at once. */
const mostEvents = 1000;

/** Whoever reads the answer wants to know that there are such quotas, and the first of them. */
const mostReported = 100;

/** A series has thousands of quotas. Other calls get their turn in between. */
const quotasPerTurn = 1000;

/** Finds the overbooked quotas of events. */
export async function findOverbooked(
  { events }: FindOverbookedRequest,
  { db }: { db: Db },
): Promise<FindOverbookedResponse> {
  if (events.length > mostEvents) throw fault("too_many_events", `ask about ${mostEvents} events at most`);
  const scopes = [...new Map(events.map((event) => [placeOf(event), event])).values()];
  const quotas = await readLimitedQuotas(db, scopes);
  const taken = quotas.length === 0 ? new Map<string, Taken[]>() : groupByDate(await readTaken(db, scopes));
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

/** A quota looks at its own date alone, and a series has many. */
function groupByDate(rows: readonly (Scope & Taken)[]): Map<string, Taken[]> {
  const groups = new Map<string, Taken[]>();
  for (const row of rows) {
    const group = groups.get(dateOf(row));
    if (group === undefined) groups.set(dateOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

function placeOf({ organizer, event }: Scope): string {
  return `${organizer}/${event}`;
}

function dateOf(row: Scope & { readonly subevent: number | null }): string {
  return `${placeOf(row)}/${row.subevent}`;
}
