import type { Tx } from "@tessera/kit/pg/database";
import { storeChanged } from "../capacity/store-changed.ts";
import { type EntityKey, nameOf } from "../store/keys.ts";
import { findNaming, forgetLost, type LostReference } from "../store/lost-references.ts";
import { lockVouchers } from "../store/stored-vouchers.ts";

/** Few enough that a transaction is quick. */
export const vouchersAtATime = 500;

/** Longer than a request takes from looking a reference up to storing the voucher. */
const graceSeconds = 60;

/**
 * Removes references to deleted entities, so that their vouchers are for everything; returns their number. What is
 * deleted is read from the copies, so repetition is harmless, and vouchers of an entity that was created again keep it.
 */
export async function blankNext(tx: Tx, lost: readonly LostReference[]): Promise<number> {
  const limit = vouchersAtATime;
  const found = new Map<string, EntityKey>();
  for (const each of lost) {
    const keys = found.size < limit ? await findNaming(tx, each, { limit: limit - found.size }) : [];
    // A request in progress may still store such a voucher; a later run finds it.
    if (keys.length === 0 && found.size < limit) await forgetLost(tx, each, { seconds: graceSeconds });
    for (const key of keys) found.set(nameOf(key), key);
  }
  if (found.size === 0) return 0;
  const locked = await lockVouchers(tx, [...found.values()]);
  const naming = locked.filter((voucher) =>
    lost.some(
      ({ organizer, event, kind, id }) =>
        voucher.organizer === organizer && voucher.event === event && voucher[kind] === id,
    ),
  );
  await storeChanged(
    tx,
    naming.map((voucher) => ({ ...voucher, item: null, variation: null, quota: null })),
  );
  return found.size;
}
