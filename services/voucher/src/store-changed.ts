import type { Tx } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import type { EntityKey } from "./store/keys.ts";
import { nextRevisions, putVouchers, type StoredVoucher } from "./store/vouchers.ts";
import { toVoucherFact } from "./wire/vouchers.ts";

/** Stores vouchers that have changed, each under a new revision, and publishes them. */
export async function storeChanged(tx: Tx, changed: readonly (EntityKey & StoredVoucher)[]): Promise<void> {
  const revisions = await nextRevisions(tx, changed.length);
  const stored = changed.map((voucher, index) => ({ ...voucher, revision: revisions[index] ?? 0 }));
  for (const ofEvent of Map.groupBy(stored, ({ organizer, event }) => `${organizer}/${event}`).values()) {
    const [first] = ofEvent;
    if (first !== undefined) await putVouchers(tx, first, ofEvent);
  }
  await tx.publish(
    topics.voucherChanged,
    stored.map((voucher) => toVoucherFact(voucher, voucher)),
  );
}
