import type { Db, Tx } from "@tessera/kit/pg/database";
import { entityKey, topics } from "@tessera/protos/topics";
import { deleteNextVouchers, forgetGoneEvent, lockGoneEvent } from "../store/gone-events.ts";
import type { EventKey } from "../store/keys.ts";
import { nextRevisions } from "../store/stored-vouchers.ts";

/** Few enough that a statement is quick. */
const vouchersAtATime = 1000;

/**
 * Deletes the next vouchers of a deleted event, which is unknown to requests until none is left. Undefined: all are
 * gone; otherwise the id to go on after. It may be restarted at any time, and run concurrently.
 *
 * Nothing else is deleted by event: uses go with the facts of their positions, and holds expire. The event may have
 * been created again in boxoffice, and its new uses and holds cannot be told apart.
 */
export async function removeNext(
  tx: Tx,
  place: EventKey,
  { after = 0, limit = vouchersAtATime }: { readonly after?: number; readonly limit?: number } = {},
): Promise<number | undefined> {
  if (!(await lockGoneEvent(tx, place))) return undefined;
  const ids = await deleteNextVouchers(tx, place, { after, limit });
  const [deletedAt = 0] = await nextRevisions(tx, 1);
  await tx.retract(
    topics.voucherChanged,
    ids.map((id) => entityKey(place.organizer, place.event, id)),
    { deletedAt },
  );
  const last = ids.at(-1);
  if (last !== undefined && ids.length === limit) return last;
  return (await forgetGoneEvent(tx, place)) ? undefined : 0;
}

/** Deletes the vouchers of a deleted event in batches, each in its own transaction. False: some are left. */
export async function removeUntil(db: Db, place: EventKey, isOver: () => Promise<boolean>): Promise<boolean> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    if (await isOver()) return false;
    const from: number = after;
    after = await db.transaction((tx) => removeNext(tx, place, { after: from }));
  }
  return true;
}
