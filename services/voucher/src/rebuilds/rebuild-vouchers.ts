import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import { topics } from "@tessera/protos/topics";
import type { EntityKey } from "../store/keys.ts";
import { countAllVouchers, drawCutoff, nextRevisions, nextVouchers } from "../store/stored-vouchers.ts";
import { toVoucherFact } from "../wire/voucher-messages.ts";

/** Publishes all vouchers again, in revisions above the cutoff and below those of later changes. */
export const rebuildVouchers: Rebuild<EntityKey> = {
  topic: topics.voucherChanged,
  drawCutoff,
  count: countAllVouchers,
  async publishNext(tx, { after, limit }) {
    const vouchers = await nextVouchers(tx, { after, limit });
    const last = vouchers.at(-1);
    if (last === undefined) return undefined;
    const revisions = await nextRevisions(tx, vouchers.length);
    const facts = vouchers.map((voucher, index) => ({
      ...toVoucherFact(voucher, voucher),
      revision: revisions[index] ?? 0,
    }));
    await tx.publish(topics.voucherChanged, facts);
    const { organizer, event, id } = last;
    return { last: { organizer, event, id }, published: facts.length };
  },
};
