import type { RecordOwner } from "@tessera/records/kind";
import { findEvent } from "../store/events.ts";
import { findReferences } from "../store/references.ts";
import { lockVouchers } from "../store/vouchers.ts";
import type { Known, Mentioned } from "./known.ts";
import { voucher } from "./voucher.ts";

/** Voucher, as an owner of records. */
export const recordOwner: RecordOwner<Mentioned, Known> = {
  kinds: [voucher],
  nothingMentioned: () => ({ items: new Set(), variations: new Set(), quotas: new Set(), subevents: new Set() }),
  async findMentioned(tx, scope, mentioned) {
    const event = await findEvent(tx, scope);
    // Organizers are not kept here; where one is unknown, its events are.
    return { organizer: true, series: event?.hasSubevents, ...(await findReferences(tx, scope, mentioned)) };
  },
  async lock(tx, records) {
    await lockVouchers(
      tx,
      records.map(({ scope, key }) => ({ ...scope, id: Number(key) })),
    );
  },
};
