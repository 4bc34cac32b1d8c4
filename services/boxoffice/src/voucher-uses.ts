import type { Tx } from "@tessera/kit/pg/database";
import { firstIdMadeHere, type Instant } from "@tessera/values";
import type { Scope } from "./domain/scope.ts";
import { momentOf, sumAdded, type Taking, takesSame, type Use } from "./domain/voucher-uses.ts";
import { addFormerUses, addUses, lockRecords, readUses } from "./store/voucher-use-rows.ts";

/** What a position will take. */
export interface UseChange {
  readonly id: number;
  /** Undefined: it names no voucher, or is deleted. */
  readonly taking: Taking | undefined;
  /** When its order was placed; null: it did not come with its order. */
  readonly placedAt: Instant | null;
  /** When its shop changed the order last; null: unknown. */
  readonly changedAt: Instant | null;
}

interface Changing extends Omit<UseChange, "taking"> {
  readonly before: Use | undefined;
  readonly after: Taking | undefined;
  readonly last: Instant | undefined;
}

/**
 * Counts the uses of positions that are about to be stored or deleted. Returns since when each position that names a
 * voucher, or did, takes what it takes.
 *
 * The claims of the vouchers are locked first. So a fact that changes the record of a voucher comes before, or counts
 * these positions itself.
 */
export async function changeUses(
  tx: Tx,
  scope: Scope,
  changes: readonly UseChange[],
): Promise<ReadonlyMap<number, Instant>> {
  const since = new Map<number, Instant>();
  const ids = changes.map(({ id }) => id);
  const known = new Map((await readUses(tx, scope, ids)).map((each) => [each.id, each]));
  const changing = changes.flatMap(({ taking: after, ...change }): Changing[] => {
    const { current: before, endedAt = null } = known.get(change.id) ?? {};
    if (before !== undefined && after !== undefined && takesSame(before, after)) since.set(change.id, before.since);
    else if (before !== undefined || after !== undefined)
      return [{ ...change, before, after, last: before?.since ?? endedAt ?? undefined }];
    return [];
  });
  if (changing.length === 0) return since;
  const mentioned = changing.flatMap(({ before, after }) => [before, after].flatMap((use) => use?.voucher ?? []));
  const { now, countedAsOf } = await lockRecords(tx, scope, [...new Set(mentioned)]);
  const moves = changing.map(({ placedAt, changedAt, last, ...change }) => {
    const told = placedAt ?? Math.min(changedAt ?? now, now);
    const moments = [change.before, change.after].map((use) => countedAsOf.get(use?.voucher ?? 0) ?? 0);
    const at = momentOf({ told, last }, { now, countedAsOf: Math.max(...moments) });
    since.set(change.id, at);
    return { ...change, at };
  });
  await addFormerUses(tx, scope, moves.flatMap(toFormer));
  await addUses(tx, scope, sumAdded(moves, countedAsOf));
  return since;
}

/** Only vouchers of records have records that could contain it. */
function toFormer({ id, at, before }: { readonly id: number; readonly at: Instant; readonly before: Use | undefined }) {
  if (before === undefined || before.voucher >= firstIdMadeHere || before.since >= at) return [];
  const { voucher, since, counts } = before;
  return [{ position: id, voucher, since, until: at, counts }];
}
