import type { Tx } from "@tessera/kit/pg/database";
import { firstIdMadeHere, type Instant } from "@tessera/values";
import type { Scope } from "../domain/scope.ts";
import {
  endAt,
  endsOld,
  momentOf,
  sumAdded,
  type Taking,
  takesSame,
  type Use,
  type UsedSince,
} from "../domain/voucher-uses.ts";
import {
  addFormerUses,
  addUses,
  deleteFormerUses,
  lockRecords,
  readFormerUses,
  readUses,
} from "../store/voucher-use-rows.ts";

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
  readonly last: UsedSince | undefined;
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
): Promise<ReadonlyMap<number, UsedSince>> {
  const since = new Map<number, UsedSince>();
  const ids = changes.map(({ id }) => id);
  const known = new Map((await readUses(tx, scope, ids)).map((each) => [each.id, each]));
  const changing = changes.flatMap(({ taking: after, ...change }): Changing[] => {
    const { current: before, last } = known.get(change.id) ?? {};
    if (!isSame(before, after) || (last !== undefined && endsOld(change.changedAt ?? 0, last)))
      return [{ ...change, before, after, last }];
    if (last !== undefined && (before !== undefined || last.overtakenAt !== null)) since.set(change.id, last);
    return [];
  });
  if (changing.length === 0) return since;
  const overtaken = changing.flatMap(({ id, last }) => (last === undefined || last.overtakenAt === null ? [] : [id]));
  const former = Map.groupBy(await readFormerUses(tx, scope, overtaken), ({ position }) => position);
  const mentioned = changing.flatMap(({ id, before, after }) =>
    [before, after, ...(former.get(id) ?? [])].flatMap((use) => use?.voucher ?? []),
  );
  const { now, countedAsOf } = await lockRecords(tx, scope, [...new Set(mentioned)]);
  const changed = changing.map(({ id, placedAt, changedAt, before, after, last }) => {
    const isPlaced = placedAt !== null && (last === undefined || placedAt > last.since);
    const told = isPlaced ? placedAt : Math.min(changedAt ?? now, now);
    const moments = [before, after].map((use) => countedAsOf.get(use?.voucher ?? 0) ?? 0);
    const moment = momentOf({ told, last }, { now, countedAsOf: Math.max(...moments) });
    since.set(id, moment);
    const ended = former.get(id) ?? [];
    const left = endAt(before === undefined ? ended : [...ended, { ...before, until: moment.since }], moment.since);
    return {
      id,
      left,
      before: before === undefined ? ended : [...ended, before],
      after: after === undefined ? left : [...left, { ...after, since: moment.since }],
    };
  });
  await deleteFormerUses(tx, scope, overtaken);
  // Only vouchers of records have records that could contain them.
  const kept = changed.flatMap(({ id, left }) => left.map((use) => ({ ...use, position: id })));
  await addFormerUses(
    tx,
    scope,
    kept.filter(({ voucher }) => voucher < firstIdMadeHere),
  );
  await addUses(tx, scope, sumAdded(changed, countedAsOf));
  return since;
}

function isSame(one: Taking | undefined, other: Taking | undefined): boolean {
  return one === undefined || other === undefined ? one === other : takesSame(one, other);
}
