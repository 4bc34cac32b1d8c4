import { consume } from "@tessera/kit/bus/consume";
import type { Fact } from "@tessera/kit/bus/fact";
import type { Tx } from "@tessera/kit/pg/database";
import type { VoucherUseChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { firstIdMadeHere } from "@tessera/values";
import Big from "big.js";
import { storeChanged } from "../capacity/store-changed.ts";
import { followUse, type Taken, type Use, type UseChange } from "../domain/count-uses.ts";
import { fault } from "../faults.ts";
import { type EntityKey, nameOf } from "../store/keys.ts";
import { lockUses, noteEnded, readClock } from "../store/reservations.ts";
import {
  addFormerUses,
  addUses,
  deleteUses,
  findOlderUses,
  type PositionKey,
  putSums,
  putUses,
  readUses,
  type StoredFormerUse,
  type StoredSums,
  type StoredUse,
} from "../store/uses.ts";
import { lockVouchers, type Recounted, recountNext, recountVouchers, type StoredVoucher } from "../store/vouchers.ts";
import { moveCounts } from "../uses/move-counts.ts";

interface Change extends PositionKey, UseChange {}

/**
 * Counts the positions that were bought with vouchers.
 *
 * A position has one use, with the revision of its state; a repeated or older state changes nothing. Every state of a
 * batch counts, not only the last: the record of a voucher contains the states of its moment. Whatever changes uses of
 * a voucher locks the voucher first.
 */
export const voucherUseChanged = consume(
  topics.voucherUseChanged,
  async (tx, facts) => applyChanges(tx, facts.map(readChange)),
  { sweep: sweepUses },
);

/** The revision of a deletion: above all others. */
const afterAll = Number.MAX_SAFE_INTEGER;

function readChange({ key, at, value, deletedAt }: Fact<VoucherUseChanged>): Change {
  const { organizer, event, id } = parseEntityKey(key);
  const place = { organizer, event, position: Number(id) };
  // A deleted use is gone, so a later state cannot contradict it.
  if (value === null)
    return { ...place, revision: afterAll, since: deletedAt === undefined ? at : Math.min(deletedAt, at), taken: null };
  if (value.orderStatus === OrderStatus.UNSPECIFIED)
    throw new Error("a fact says nothing of the order of its position");
  const { revision, since } = value;
  return { ...place, revision, since, taken: toTaken(value) };
}

function toTaken({ voucher, orderStatus, canceled, budgetUse = "0" }: VoucherUseChanged): Taken & Pick<Use, "voucher"> {
  const isOpen = orderStatus === OrderStatus.PENDING || orderStatus === OrderStatus.PAID;
  const counts = isOpen && !canceled;
  return { voucher, counts, budget: new Big(counts ? budgetUse : 0).toFixed(2) };
}

async function applyChanges(tx: Tx, changes: readonly Change[]): Promise<void> {
  // Exclusively for deletions only: a sweep never ends a use that was only confirmed.
  await lockUses(tx, { alone: changes.filter(({ revision }) => revision === afterAll), shared: changes });
  const ofPosition = Map.groupBy(changes, nameOfPosition);
  const known = byPosition(await readUses(tx, changes));
  await noteEnded(
    tx,
    [...ofPosition.values()].flatMap((of) => (of.at(-1)?.taken === null ? [of[0] as Change] : [])),
  );
  const concerned = [...ofPosition].filter(([name, of]) => known.has(name) || of.some(({ taken }) => taken !== null));
  if (concerned.length === 0) return;
  const mentioned = concerned.flatMap(([name, of]) => {
    const ids = [known.get(name)?.voucher, ...of.map(({ taken }) => taken?.voucher)].filter((id) => id !== undefined);
    return ids.map((id): EntityKey => ({ organizer: place(of).organizer, event: place(of).event, id }));
  });
  const keys = [...new Map(mentioned.map((key) => [nameOf(key), key])).values()];
  const vouchers = new Map((await lockVouchers(tx, keys)).map((voucher) => [nameOf(voucher), voucher]));
  // Read again under the locks: a shop may have confirmed a position in between.
  const places = concerned.map(([, of]) => place(of));
  const before = byPosition(await readUses(tx, places));
  const locked = new Set(keys.map(nameOf));
  if ([...before.values()].some((use) => !locked.has(nameOf({ ...use, id: use.voucher })))) throw confirmedNow();
  const now = await readClock(tx);
  const followed = concerned.map(([name, of]) => follow(of, before.get(name), { vouchers, now }));
  const after = followed.flatMap(({ current }) => current ?? []);
  const former = followed.flatMap((each) => each.former);
  await deleteUses(
    tx,
    followed.flatMap(({ key, current }) => (current === undefined && before.has(nameOfPosition(key)) ? [key] : [])),
  );
  const { added = [], replaced = [] } = Object.groupBy(after, (use) =>
    before.has(nameOfPosition(use)) ? "replaced" : "added",
  );
  if ((await addUses(tx, added)) < added.length) throw confirmedNow();
  await putUses(tx, replaced);
  await addFormerUses(tx, former);
  await moveCounts(tx, vouchers, { before: [...before.values()], after: [...after, ...former] });
}

/** A shop has confirmed the position for a voucher that is not locked: read again. */
function confirmedNow() {
  return fault("concurrent_change", "a position is being confirmed");
}

function place([first]: readonly Change[]): PositionKey {
  if (first === undefined) throw new Error("a position has no change");
  const { organizer, event, position } = first;
  return { organizer, event, position };
}

/** Applies the changes of one position. Former uses are kept only for imported vouchers. */
function follow(
  changes: readonly Change[],
  first: Use | undefined,
  { vouchers, now }: { readonly vouchers: ReadonlyMap<string, StoredVoucher>; readonly now: number },
): {
  readonly key: PositionKey;
  readonly current: StoredUse | undefined;
  readonly former: readonly StoredFormerUse[];
} {
  const key = place(changes);
  let current = first;
  const former: StoredFormerUse[] = [];
  for (const change of changes) {
    if (current === undefined ? change.taken === null : change.revision <= current.revision) continue;
    const moments = [current?.voucher, change.taken?.voucher].map(
      (id = 0) => vouchers.get(nameOf({ ...key, id }))?.countedAsOf ?? 0,
    );
    const next = followUse(current, change, { now, countedAsOf: Math.max(...moments) });
    if (next.former !== undefined && next.former.voucher < firstIdMadeHere) former.push({ ...key, ...next.former });
    current = next.current;
  }
  return { key, current: current && { ...key, ...current }, former };
}

/** Positions per statement of the sweep. */
const sweptAtOnce = 500;

const recountedAtOnce = 5000;

/** Ends the uses of positions that a rebuild did not publish, and corrects vouchers whose counts are wrong. */
async function sweepUses(tx: Tx, { before: revision }: { readonly before: number }): Promise<number> {
  let removed = 0;
  const since = await readClock(tx);
  for (;;) {
    const older = await findOlderUses(tx, { revision, limit: sweptAtOnce });
    if (older.length === 0) break;
    await applyChanges(
      tx,
      older.map(({ organizer, event, position }) => ({ organizer, event, position, revision, since, taken: null })),
    );
    removed += older.length;
  }
  await correctCounts(tx);
  return removed;
}

async function correctCounts(tx: Tx): Promise<void> {
  for (let after: EntityKey | undefined, isMore = true; isMore; ) {
    const counted = await recountNext(tx, { after, limit: recountedAtOnce });
    const wrong = counted.filter(({ isRight }) => !isRight);
    if (wrong.length > 0) {
      const locked = await lockVouchers(tx, wrong);
      // Again under the locks: the first read may have met a change in progress.
      const truths = new Map((await recountVouchers(tx, wrong)).map((truth) => [nameOf(truth), truth]));
      const changed = locked.flatMap((voucher) => {
        const truth = truths.get(nameOf(voucher));
        return truth === undefined || truth.isRight ? [] : [{ voucher, truth }];
      });
      await putSums(
        tx,
        changed.map(({ truth }) => toSums(truth)),
      );
      await storeChanged(
        tx,
        changed.map(({ voucher, truth: { redeemed, budgetUsed } }) => ({ ...voucher, redeemed, budgetUsed })),
      );
    }
    after = counted.at(-1);
    isMore = counted.length === recountedAtOnce;
  }
}

function toSums({ organizer, event, id, redeemedMore, budgetMore }: Recounted): StoredSums {
  return { organizer, event, voucher: id, redeemed: redeemedMore, budgetUsed: budgetMore };
}

function byPosition(uses: readonly StoredUse[]): Map<string, StoredUse> {
  return new Map(uses.map((use) => [nameOfPosition(use), use]));
}

function nameOfPosition({ organizer, event, position }: PositionKey): string {
  return `${organizer}/${event}/${position}`;
}
