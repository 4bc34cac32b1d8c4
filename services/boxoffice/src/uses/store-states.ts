import { type EventKey, nameOf } from "@tessera/events/entity-key";
import type { Tx } from "@tessera/kit/pg/database";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import { lockPresent } from "../store/events.ts";
import { putClaims } from "../store/voucher-claim-rows.ts";
import { toVoucherClaim } from "../wire/voucher-fact.ts";

/** Stores the newest claims of vouchers. Vouchers of a removed event take nothing. */
export async function storeStates(tx: Tx, states: readonly VoucherChanged[]): Promise<void> {
  if (states.length === 0) return;
  const present = new Set((await lockPresent(tx, eventsOf(states))).map(eventName));
  const claims = states.filter((state) => present.has(eventName(state))).map(toVoucherClaim);
  // In the order of ids, as in batches of positions, against deadlocks.
  await putClaims(
    tx,
    claims.sort((one, other) => one.id - other.id || (nameOf(one) < nameOf(other) ? -1 : 1)),
  );
}

const eventName = ({ organizer, event }: EventKey) => `${organizer}/${event}`;

const eventsOf = (states: readonly EventKey[]) => [
  ...new Map(states.map((state) => [eventName(state), state])).values(),
];
