import type { Tx } from "@tessera/kit/pg/database";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import { topics } from "@tessera/protos/topics";
import type { EntityKey } from "../store/keys.ts";
import { nextRevisions, putVouchers, type StoredVoucher } from "../store/stored-vouchers.ts";
import { toVoucherFact } from "../wire/voucher-messages.ts";

type Placed = EntityKey & StoredVoucher;

/** Stores changed vouchers under new revisions, and publishes them; returns their facts. */
export async function storeChanged(tx: Tx, changed: readonly Placed[]): Promise<VoucherChanged[]> {
  const revisions = await nextRevisions(tx, changed.length);
  const stored = changed.map((voucher, index) => ({ ...voucher, revision: revisions[index] ?? 0 }));
  for (const ofEvent of Map.groupBy(stored, ({ organizer, event }) => `${organizer}/${event}`).values()) {
    const [first] = ofEvent;
    if (first !== undefined) await putVouchers(tx, first, ofEvent);
  }
  const facts = stored.map((voucher) => toVoucherFact(voucher, voucher));
  await tx.publish(topics.voucherChanged, facts);
  return facts;
}
