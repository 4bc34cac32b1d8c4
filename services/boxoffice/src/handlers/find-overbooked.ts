import { setImmediate } from "node:timers/promises";
import type { Db, Queryable } from "@tessera/kit/pg/database";
import type {
  FindOverbookedRequest,
  FindOverbookedResponse,
  OverbookedQuota,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/quotas";
import { computeAvailability } from "../domain/availability.ts";
import type { Scope } from "../domain/scope.ts";
import { matchQuotas, sumByQuota } from "../domain/voucher-claims.ts";
import { fault } from "../faults.ts";
import { type QuotaRow, readLimitedQuotas, readVariations } from "../store/capacity.ts";
import { type Ledger, readLedger } from "../store/voucher-claim-rows.ts";

/** The limit of one statement. */
const mostEvents = 1000;

/** The first ones show what is wrong. */
const mostReported = 100;

/** A series has thousands of quotas; the event loop has a turn in between. */
const quotasPerTurn = 1000;

/** Finds the overbooked quotas of events. */
export async function findOverbooked(
  { events }: FindOverbookedRequest,
  { db }: { db: Db },
): Promise<FindOverbookedResponse> {
  if (events.length > mostEvents) throw fault("too_many_events", `ask about ${mostEvents} events at most`);
  const scopes = [...new Map(events.map((event) => [placeOf(event), event])).values()];
  const quotas = await readLimitedQuotas(db, scopes);
  if (quotas.length === 0) return { quotas: [] };
  const ledger = await readLedger(db, scopes);
  // A quota counts positions of its own date alone, and a series has many dates.
  const taken = Map.groupBy(ledger.taken, dateOf);
  const byVouchers = await sumVouchers(db, quotas, ledger);
  const overbooked: OverbookedQuota[] = [];
  for (const [index, quota] of quotas.entries()) {
    if (overbooked.length === mostReported) break;
    if (index % quotasPerTurn === quotasPerTurn - 1) await setImmediate();
    const vouchers = byVouchers.get(placeOf(quota))?.get(quota.id);
    const { left, taken: all } = computeAvailability(quota, taken.get(dateOf(quota)) ?? [], vouchers);
    const { organizer, event, id, size } = quota;
    if (size !== null && left !== null && left < 0) overbooked.push({ organizer, event, id, size, taken: all });
  }
  return { quotas: overbooked };
}

/** Sums what vouchers take, by event and quota. */
async function sumVouchers(
  db: Queryable,
  quotas: readonly (Scope & QuotaRow)[],
  ledger: Pick<Ledger, "claims">,
): Promise<Map<string, Map<number, number>>> {
  const ofEvent = Map.groupBy(quotas, placeOf);
  const scopes = [...ofEvent.values()].flatMap(([quota]) => quota ?? []);
  const claims = Map.groupBy(ledger.claims, placeOf);
  const claimed = scopes.filter((scope) => claims.has(placeOf(scope)));
  const items = Map.groupBy(claimed.length === 0 ? [] : await readVariations(db, claimed), placeOf);
  return new Map(
    claimed.map((scope) => {
      const place = placeOf(scope);
      const variationsOf = new Map((items.get(place) ?? []).map(({ id, variations }) => [id, variations]));
      return [place, sumByQuota(claims.get(place) ?? [], matchQuotas(ofEvent.get(place) ?? [], variationsOf))];
    }),
  );
}

function placeOf({ organizer, event }: Scope): string {
  return `${organizer}/${event}`;
}

function dateOf(row: Scope & { readonly subevent: number | null }): string {
  return `${placeOf(row)}/${row.subevent}`;
}
