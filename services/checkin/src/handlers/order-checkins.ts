import type { Reads } from "@tessera/kit/pg/reads";
import type {
  CheckinsOfPosition,
  FindCheckinsRequest,
  FindCheckinsResponse,
  FindScannedSinceRequest,
  FindScannedSinceResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/order_checkins";
import { fault } from "../faults.ts";
import * as store from "../store/checkins-of-orders.ts";
import { mostCheckins } from "../store/ticket-rows.ts";
import { toCheckin } from "../wire/position-messages.ts";

type Deps = { readonly reads: Reads };

/** To name more costs the caller as much as to read all orders. */
const mostScans = 20_000;

/** Finds of which tickets a scan succeeded or was annulled lately. */
export async function findScannedSince(
  { since, ...place }: FindScannedSinceRequest,
  { reads }: Deps,
): Promise<FindScannedSinceResponse> {
  const positions = await reads.inTurn(place.organizer, (db) =>
    store.findScannedSince(db, place, { since, most: mostScans }),
  );
  return { positions: positions ?? [], tooMany: positions === undefined };
}

const mostPositions = 10_000;

/** Finds the newest successful scans of tickets, on all lists. */
export async function findCheckins(
  { organizer, event, positions }: FindCheckinsRequest,
  { reads }: Deps,
): Promise<FindCheckinsResponse> {
  if (positions.length > mostPositions) throw fault("too_many_checkins", `Ask for ${mostPositions} positions at most.`);
  const scans = await reads.inTurn(organizer, (db) => store.readCheckins(db, { organizer, event }, positions));
  const found = Map.groupBy(scans, ({ position }) => position);
  return { positions: Array.from(found, ([position, ofIt]) => toCheckins(position, ofIt)) };
}

function toCheckins(position: number, scans: readonly store.OrderCheckin[]): CheckinsOfPosition {
  return {
    position,
    checkins: scans.slice(0, mostCheckins).map((scan) => toCheckin(scan.list, scan)),
    createdAt: Math.max(...scans.map(({ createdAt }) => createdAt)),
  };
}
