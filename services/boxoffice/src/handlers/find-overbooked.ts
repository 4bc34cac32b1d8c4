import { setImmediate } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import type {
  FindOverbookedRequest,
  FindOverbookedResponse,
  OverbookedQuota,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/quotas";
import type { Scope } from "../domain/scope.ts";
import { fault } from "../faults.ts";
import { readLimitedQuotas, readVariations } from "../store/capacity.ts";
import { readLedger } from "../store/voucher-claim-rows.ts";
import { computeEach } from "./quota-room.ts";

/** The limit of one statement. */
const mostEvents = 1000;

/** The first ones show what is wrong. */
const mostReported = 100;

/** Finds the overbooked quotas of events. */
export async function findOverbooked(
  { events }: FindOverbookedRequest,
  { db }: { db: Db },
): Promise<FindOverbookedResponse> {
  if (events.length > mostEvents) throw fault("too_many_events", `ask about ${mostEvents} events at most`);
  const scopes = [...new Map(events.map((event) => [placeOf(event), event])).values()];
  const quotas = Map.groupBy(await readLimitedQuotas(db, scopes), placeOf);
  if (quotas.size === 0) return { quotas: [] };
  const ledger = await readLedger(db, scopes);
  const claims = Map.groupBy(ledger.claims, placeOf);
  const taken = Map.groupBy(ledger.taken, placeOf);
  const claimed = scopes.filter((scope) => claims.has(placeOf(scope)));
  const items = Map.groupBy(await readVariations(db, claimed), placeOf);
  const overbooked: OverbookedQuota[] = [];
  for (const [place, ofEvent] of quotas) {
    if (overbooked.length >= mostReported) break;
    // The event loop has a turn between two events.
    await setImmediate();
    const variationsOf = new Map(items.get(place)?.map(({ id, variations }) => [id, variations]));
    const availability = computeEach(ofEvent, variationsOf, {
      claims: claims.get(place) ?? [],
      taken: taken.get(place) ?? [],
    });
    for (const { organizer, event, id, size } of ofEvent) {
      const { left = null, taken: all = 0 } = availability.get(id) ?? {};
      if (size !== null && left !== null && left < 0) overbooked.push({ organizer, event, id, size, taken: all });
    }
  }
  return { quotas: overbooked.slice(0, mostReported) };
}

function placeOf({ organizer, event }: Scope): string {
  return `${organizer}/${event}`;
}
