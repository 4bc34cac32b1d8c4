import { nameOf } from "@tessera/events/entity-key";
import type { Tx } from "@tessera/kit/pg/database";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import { lockPresent } from "../store/events.ts";
import { putClaims } from "../store/voucher-claim-rows.ts";
import { toVoucherClaim } from "../wire/voucher-fact.ts";

/** Stores the newest claims of vouchers. Vouchers of a removed event take nothing. */
export async function storeStates(tx: Tx, states: readonly VoucherChanged[]): Promise<void> {
  if (states.length === 0) return;
  const present = new Set((await lockPresent(tx, placesOf(states))).map(placeOf));
  const claims = states.filter((state) => present.has(placeOf(state))).map(toVoucherClaim);
  // In the order of ids, as in batches of positions, against deadlocks.
  await putClaims(
    tx,
    claims.sort((one, other) => one.id - other.id || (nameOf(one) < nameOf(other) ? -1 : 1)),
  );
}

interface Place {
  readonly organizer: string;
  readonly event: string;
}

const placeOf = ({ organizer, event }: Place) => `${organizer}/${event}`;

const placesOf = (states: readonly Place[]) => [...new Map(states.map((state) => [placeOf(state), state])).values()];
