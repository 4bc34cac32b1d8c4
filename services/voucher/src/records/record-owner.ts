import { addIds, readShared, recallOfEvent } from "@tessera/records/brought";
import type { RecordOwner } from "@tessera/records/kind";
import { fault } from "../faults.ts";
import { findEvent, lockEvents } from "../store/events.ts";
import { findBeingRemoved } from "../store/gone-events.ts";
import { nameOf } from "../store/keys.ts";
import { findReferences } from "../store/references.ts";
import { lockUses } from "../store/reservations.ts";
import { findCodes, findVouchers, lockVouchers } from "../store/stored-vouchers.ts";
import type { BroughtVoucher, Known, Mentioned } from "./known.ts";
import { voucher } from "./voucher-record.ts";

export const recordOwner: RecordOwner<Mentioned, Known> = {
  kinds: [voucher],
  nothingMentioned: () => ({
    items: new Set(),
    variations: new Set(),
    quotas: new Set(),
    subevents: new Set(),
    codes: new Set(),
  }),
  async findMentioned(tx, scope, mentioned) {
    const event = await findEvent(tx, scope);
    // There is no copy of organizers; where an organizer is unknown, so are its events.
    return {
      organizer: true,
      series: event?.hasSubevents,
      ...(await findReferences(tx, scope, mentioned)),
      codes: await findCodes(tx, scope, [...mentioned.codes]),
    };
  },
  recall: recallOfEvent((known, entities) => {
    const items = new Map(known.items);
    const variations = new Map(known.variations);
    const codes = new Map(known.codes);
    for (const entity of entities) {
      const id = Number(entity.key);
      const item = readShared(entity, "item");
      if (item !== undefined) {
        items.set(id, { hasVariations: item.variations.length > 0, isAddon: false, requiresBundling: false });
        for (const variation of item.variations) variations.set(variation, id);
      }
      if (entity.kind === "voucher") {
        const { code } = JSON.parse(entity.data) as BroughtVoucher["data"];
        for (const [held, other] of codes) if (other === id) codes.delete(held);
        codes.set(code, id);
      }
    }
    const quotas = addIds(known.quotas, "quota", entities);
    return { items, variations, quotas, codes, subevents: addIds(known.subevents, "subevent", entities) };
  }),
  async lock(tx, records) {
    const places = [...new Map(records.map(({ scope }) => [`${scope.organizer}/${scope.event}`, scope])).values()];
    await lockEvents(tx, places);
    const [removed] = await findBeingRemoved(tx, places);
    if (removed !== undefined) {
      const what =
        "vouchers of a deleted event with its slug are still being deleted; send its records again in a moment";
      throw fault("voucher_event_being_removed", `${removed.event}: ${what}`, { retryAfterMs: 1000 });
    }
    const keys = records.map(({ scope, key }) => ({ ...scope, id: Number(key) }));
    const isThere = new Set((await findVouchers(tx, keys)).map(nameOf));
    await lockUses(tx, { alone: keys.filter((key) => !isThere.has(nameOf(key))), shared: [] });
    if ((await lockVouchers(tx, keys)).length < isThere.size)
      throw fault("concurrent_change", "a voucher is being deleted; send its record again", { retryAfterMs: 1000 });
  },
};
