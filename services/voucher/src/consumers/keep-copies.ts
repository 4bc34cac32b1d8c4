import { endingErasures } from "@tessera/events/gone-events";
import { keepCopy } from "@tessera/kit/bus/keep-copy";
import type { Tx } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { removeNext } from "../leftovers/remove-vouchers.ts";
import { blankNext, vouchersAtATime } from "../leftovers/replace-references.ts";
import { categories, items, quotas, subevents } from "../store/copies.ts";
import { events } from "../store/events.ts";
import { noteDeletedEvents, noteOlderEvents } from "../store/gone-events.ts";
import { findJustLost, noteLostItems, noteLostQuotas, noteLostVariations } from "../store/lost-references.ts";
import { readDatePrices } from "../wire/date-prices.ts";

const copies: typeof events = endingErasures(events);

const notedEvents: typeof events = {
  ...copies,
  async delete(tx: Tx, keys, deletedAt) {
    await noteDeletedEvents(tx, keys);
    const deleted = await copies.delete(tx, keys, deletedAt);
    for (const key of keys) await removeNext(tx, key);
    return deleted;
  },
  async deleteOlder(tx, revision, since) {
    await noteOlderEvents(tx, revision);
    return copies.deleteOlder(tx, revision, since);
  },
};

const notedItems: typeof items = {
  ...items,
  async delete(tx, keys) {
    if (keys.length > 0) await noteLostItems(tx, { keys });
    return items.delete(tx, keys);
  },
  async deleteOlder(tx, revision) {
    await noteLostItems(tx, { olderThan: revision });
    return items.deleteOlder(tx, revision);
  },
  async upsertNewer(tx, rows) {
    await noteLostVariations(tx, rows);
    return items.upsertNewer(tx, rows);
  },
};

const notedQuotas: typeof quotas = {
  ...quotas,
  async delete(tx, keys) {
    if (keys.length > 0) await noteLostQuotas(tx, { keys });
    return quotas.delete(tx, keys);
  },
  async deleteOlder(tx, revision) {
    await noteLostQuotas(tx, { olderThan: revision });
    return quotas.deleteOlder(tx, revision);
  },
};

/** Changes the first vouchers that refer to entities deleted in this transaction. A job changes the others. */
async function afterChange(tx: Tx): Promise<void> {
  const lost = await findJustLost(tx, { limit: vouchersAtATime });
  if (lost.length > 0) await blankNext(tx, lost);
}

/** Keeps our copy of events. Deletes the first vouchers of a deleted event; a job deletes the others. */
export const eventChanged = keepCopy(topics.eventChanged, notedEvents, (fact) => fact);

/** Copies of the entities that vouchers refer to. */
export const subeventChanged = keepCopy(topics.subeventChanged, subevents, ({ document, ...fact }) => ({
  ...fact,
  prices: readDatePrices(document),
}));
export const categoryChanged = keepCopy(topics.categoryChanged, categories, (fact) => fact);
export const quotaChanged = keepCopy(topics.quotaChanged, notedQuotas, (fact) => fact, { afterChange });
export const itemChanged = keepCopy(
  topics.itemChanged,
  notedItems,
  ({ variations, ...fact }) => ({ ...fact, variations: variations.map(({ id }) => id) }),
  { afterChange },
);
