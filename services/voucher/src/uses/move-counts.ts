import type { Tx } from "@tessera/kit/pg/database";
import { storeChanged } from "../capacity/store-changed.ts";
import { countOf, differenceOf, type FormerUse, isNothing, sumOf, type Use } from "../domain/count-uses.ts";
import { type EntityKey, type EventKey, nameOf } from "../store/keys.ts";
import type { StoredVoucher } from "../store/stored-vouchers.ts";
import { addSums } from "../store/uses.ts";

type UseOf = EventKey & (Use | FormerUse);

/** Adds to the counts of locked vouchers, and publishes the vouchers that change. */
export async function moveCounts(
  tx: Tx,
  vouchers: ReadonlyMap<string, EntityKey & StoredVoucher>,
  { before, after }: { readonly before: readonly UseOf[]; readonly after: readonly UseOf[] },
): Promise<void> {
  const nameOfUse = ({ organizer, event, voucher }: UseOf) => nameOf({ organizer, event, id: voucher });
  const [earlier, later] = [Map.groupBy(before, nameOfUse), Map.groupBy(after, nameOfUse)];
  const moved = [...vouchers].flatMap(([name, { organizer, event, id, countedAsOf }]) => {
    const sum = (uses: ReadonlyMap<string, readonly UseOf[]>) => sumOf(uses.get(name) ?? [], countedAsOf);
    const difference = differenceOf(sum(earlier), sum(later));
    return isNothing(difference) ? [] : [{ organizer, event, voucher: id, ...difference }];
  });
  const changed = (await addSums(tx, moved)).flatMap((sums) => {
    const voucher = vouchers.get(nameOf({ ...sums, id: sums.voucher }));
    return voucher === undefined ? [] : [{ ...voucher, ...countOf(voucher, sums) }];
  });
  await storeChanged(tx, changed);
}
