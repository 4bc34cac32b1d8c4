import { randomUUID } from "node:crypto";
import { currentContext } from "@tessera/kit/context";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type { NeedProblem, VoucherNeed } from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import type { Capacity } from "@tessera/protos/services";
import { fault } from "../faults.ts";
import type { VoucherEvents } from "../report-events.ts";
import { confirmHold, forgetHold, giveUpHold, rememberHold } from "../store/asked-holds.ts";
import type { EventKey } from "../store/keys.ts";

/** What handlers that take capacity work with. */
export interface HoldTools {
  readonly db: Db;
  readonly capacity: Client<Capacity>;
  readonly events: VoucherEvents;
}

/** What boxoffice says of the needs of some vouchers. */
export interface Held {
  readonly problems: readonly NeedProblem[];
  /** Confirms the hold if the transaction commits. It stores the next state of each of the vouchers. */
  confirm(tx: Tx): Promise<void>;
}

/** A request waits so long at most for a boxoffice that does not answer. Its facts say the same later. */
const tellMs = 500;

/** Tells boxoffice what vouchers have become, so that what they gave back is free before the request is answered. */
export async function tellVouchers(
  { capacity, events }: Omit<HoldTools, "db">,
  vouchers: readonly VoucherChanged[],
): Promise<void> {
  try {
    await capacity.tellVouchers({ vouchers: [...vouchers] }, { timeoutMs: tellMs });
  } catch (error) {
    for (const voucher of vouchers) events.voucherNotTold(voucher, error);
  }
}

/** Boxoffice waits three seconds for the turn of the organizer, and three for its lock. */
const holdMs = 7000;

/**
 * Holds capacity in boxoffice while `work` stores the vouchers that need it.
 *
 * The hold is remembered here before it is asked for. So whatever is killed, either the transaction of `work` has
 * confirmed it, or it is found here and released. A request that comes again gives up what its first attempt holds: that
 * stores nothing any more, or has stored the answer.
 */
export async function holdWhile<T>(
  { db, capacity, events }: HoldTools,
  { place, needs }: { readonly place: EventKey; readonly needs: readonly VoucherNeed[] },
  work: (held: Held) => Promise<T>,
): Promise<T> {
  if (needs.length === 0) return work({ problems: [], confirm: async () => {} });
  const { organizer, event } = place;
  const hold = randomUUID();
  const earlier = await rememberHold(db, { organizer, event, hold }, currentContext().requestId);
  try {
    for (const each of earlier) await releaseHold({ db, capacity, events }, each);
    const { problems } = await capacity.holdCapacity(
      { organizer, event, hold, needs: [...needs] },
      { timeoutMs: holdMs },
    );
    return await work({
      problems,
      async confirm(tx) {
        if (!(await confirmHold(tx, hold))) {
          throw fault("hold_lost", "The capacity was held for too long; try again.", { retryAfterMs: 5000 });
        }
      },
    });
  } finally {
    // Nothing is left of a hold that was confirmed.
    await releaseHold({ db, capacity, events }, { organizer, event, hold });
  }
}

/** Releases a hold, unless a transaction has confirmed it. What fails is tried again by a job. */
export async function releaseHold(
  { db, capacity, events }: HoldTools,
  { hold, organizer, event }: EventKey & { readonly hold: string },
): Promise<void> {
  try {
    if (!(await giveUpHold(db, hold))) return;
    await capacity.releaseCapacity({ organizer, event, hold }, { timeoutMs: holdMs });
    await forgetHold(db, hold);
    events.holdReleased({ organizer, event });
  } catch (error) {
    events.holdNotReleased({ organizer, event }, error);
  }
}
