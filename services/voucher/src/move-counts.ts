import type { Tx } from "@tessera/kit/pg/database";
import { moveUses, sumOf } from "./domain/count-uses.ts";
import { type EntityKey, nameOf } from "./store/keys.ts";
import type { StoredUse } from "./store/uses.ts";
import type { StoredVoucher } from "./store/vouchers.ts";
import { storeChanged } from "./store-changed.ts";

/** Moves what vouchers count, and publishes those that are changed by it. Their locks are held. */
export async function moveCounts(
  tx: Tx,
  vouchers: ReadonlyMap<string, EntityKey & StoredVoucher>,
  { before, after }: { readonly before: readonly StoredUse[]; readonly after: readonly StoredUse[] },
): Promise<void> {
  const nameOfUse = ({ organizer, event, voucher }: StoredUse) => nameOf({ organizer, event, id: voucher });
  const [earlier, later] = [Map.groupBy(before, nameOfUse), Map.groupBy(after, nameOfUse)];
  const changed = [...vouchers].flatMap(([name, voucher]) => {
    const moved = moveUses(voucher, { before: sumOf(earlier.get(name) ?? []), after: sumOf(later.get(name) ?? []) });
    const isSame = moved.redeemed === voucher.redeemed && moved.budgetUsed === voucher.budgetUsed;
    return isSame ? [] : [{ ...voucher, ...moved }];
  });
  await storeChanged(tx, changed);
}
