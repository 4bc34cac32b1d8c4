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

/** The dependencies of handlers that take capacity. */
export interface HoldTools {
  readonly db: Db;
  readonly capacity: Client<Capacity>;
  readonly events: VoucherEvents;
}

/** The answer of boxoffice about the capacity that some vouchers need. */
export interface Held {
  readonly problems: readonly NeedProblem[];
  /** Confirms the hold if the transaction commits, which must store the next state of each of the vouchers. */
  confirm(tx: Tx): Promise<void>;
}

/** The most that a request waits for a silent boxoffice, which learns the same from the facts later. */
const tellMs = 500;

/** Announces the new state of vouchers to boxoffice, so that capacity is released before the request is answered. */
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
 * The hold is stored here before boxoffice is asked. So whatever is killed, the transaction of `work` has confirmed the
 * hold, or a job finds and releases it. A repeated request releases the hold of its first attempt, which can store
 * nothing any more, or has stored the answer.
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
    // Does nothing if the hold was confirmed.
    await releaseHold({ db, capacity, events }, { organizer, event, hold });
  }
}

/** Releases a hold, unless a transaction has confirmed it. A job retries what fails. */
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
