import type { Queryable } from "@tessera/kit/pg/database";
import type { KnownReferences } from "../domain/check-voucher.ts";
import type { VoucherFields } from "../domain/voucher.ts";
import { requireEvent } from "../store/events.ts";
import type { EventKey } from "../store/keys.ts";
import { findReferences } from "../store/references.ts";

/** Finds which references of vouchers the event has. */
export async function findKnown(
  db: Queryable,
  place: EventKey,
  vouchers: readonly Pick<VoucherFields, "item" | "variation" | "quota" | "subevent">[],
): Promise<KnownReferences> {
  const { hasSubevents } = await requireEvent(db, place);
  const named = (name: "item" | "variation" | "quota" | "subevent") =>
    new Set(vouchers.map((voucher) => voucher[name]).filter((id) => id !== null));
  const known = await findReferences(db, place, {
    items: named("item"),
    variations: named("variation"),
    quotas: named("quota"),
    subevents: named("subevent"),
  });
  return { series: hasSubevents, ...known };
}
