import { consume } from "@tessera/kit/bus/consume";
import type { Fact } from "@tessera/kit/bus/fact";
import type { Tx } from "@tessera/kit/pg/database";
import type { VoucherUseChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { firstIdMadeHere } from "@tessera/values";
import Big from "big.js";
import { storeChanged } from "../capacity/store-changed.ts";
import { followUse, type History, type Taken, type Use, type UseChange } from "../domain/count-uses.ts";
import { fault } from "../faults.ts";
import { type EntityKey, type EventKey, nameOf } from "../store/keys.ts";
import { type Recounted, recountNext, recountVouchers } from "../store/recounted-vouchers.ts";
import { lockUses, noteEnded, readClock } from "../store/reservations.ts";
import { lockVouchers, type StoredVoucher } from "../store/stored-vouchers.ts";
import {
  addFormerUses,
  addUses,
  deleteFormerUses,
  deleteUses,
  findOlderUses,
  type PositionKey,
  putSums,
  putUses,
  readFormerUses,
  readUses,
  type StoredFormerUse,
  type StoredSums,
  type StoredUse,
} from "../store/uses.ts";
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
  const known = await readKnown(tx, [...ofPosition.values()]);
  await noteEnded(
    tx,
    [...ofPosition.values()].flatMap((of) => (of.at(-1)?.taken === null ? [of[0] as Change] : [])),
  );
  const isKnown = new Set(known.map(nameOfPosition));
  const concerned = [...ofPosition].filter(([name, of]) => isKnown.has(name) || of.some(({ taken }) => taken !== null));
  if (concerned.length === 0) return;
  const named = changes.flatMap(({ taken, ...change }) => (taken === null ? [] : [{ ...change, ...taken }]));
  const keys = [
    ...new Map([...known, ...named].map((use) => [nameOfVoucher(use), { ...use, id: use.voucher }])).values(),
  ];
  const vouchers = new Map((await lockVouchers(tx, keys)).map((voucher) => [nameOf(voucher), voucher]));
  // Read again under the locks: a shop may have confirmed a position in between.
  const before = await readKnown(
    tx,
    concerned.map(([, of]) => of),
  );
  const locked = new Set(keys.map(nameOf));
  if (before.some((use) => !locked.has(nameOfVoucher(use)))) throw confirmedNow();
  const current = before.filter(isCurrent);
  const former = before.flatMap((use) => (isCurrent(use) ? [] : [use]));
  const had = byPosition(current);
  const now = await readClock(tx);
  const ended = Map.groupBy(former, nameOfPosition);
  const followed = concerned.map(([name, of]) =>
    follow(of, { current: had.get(name), former: ended.get(name) ?? [] }, { vouchers, now }),
  );
  const after = followed.flatMap((each) => each.current ?? []);
  const left = followed.flatMap((each) => each.former);
  await deleteUses(
    tx,
    followed.flatMap((each) => (each.current === undefined && had.has(nameOfPosition(each.key)) ? [each.key] : [])),
  );
  const { added = [], replaced = [] } = Object.groupBy(after, (use) =>
    had.has(nameOfPosition(use)) ? "replaced" : "added",
  );
  if ((await addUses(tx, added)) < added.length) throw confirmedNow();
  await putUses(tx, replaced);
  await deleteFormerUses(tx, former);
  await addFormerUses(tx, left);
  await moveCounts(tx, vouchers, { before, after: [...after, ...left] });
}

/** Reads the uses of positions whose changes are given, and the former ones that ended behind the first of these. */
async function readKnown(
  tx: Tx,
  ofPosition: readonly (readonly Change[])[],
): Promise<readonly (StoredUse | StoredFormerUse)[]> {
  const places = ofPosition.map((of) => ({ ...place(of), since: Math.min(...of.map(({ since }) => since)) }));
  return [...(await readUses(tx, places)), ...(await readFormerUses(tx, places))];
}

function isCurrent(use: StoredUse | StoredFormerUse): use is StoredUse {
  return "revision" in use;
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
  known: History,
  { vouchers, now }: { readonly vouchers: ReadonlyMap<string, StoredVoucher>; readonly now: number },
): {
  readonly key: PositionKey;
  readonly current: StoredUse | undefined;
  readonly former: readonly StoredFormerUse[];
} {
  const key = place(changes);
  let history = known;
  for (const change of changes) {
    const { current } = history;
    if (current !== undefined && change.revision <= current.revision) continue;
    const moments = [current?.voucher, change.taken?.voucher].map(
      (id = 0) => vouchers.get(nameOf({ ...key, id }))?.countedAsOf ?? 0,
    );
    history = followUse(history, change, { now, countedAsOf: Math.max(...moments) });
  }
  const { current, former } = history;
  return {
    key,
    current: current && { ...key, ...current },
    former: former.flatMap((use) => (use.voucher < firstIdMadeHere ? [{ ...key, ...use }] : [])),
  };
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

function nameOfVoucher({ organizer, event, voucher }: EventKey & Pick<Use, "voucher">): string {
  return nameOf({ organizer, event, id: voucher });
}

function nameOfPosition({ organizer, event, position }: PositionKey): string {
  return `${organizer}/${event}/${position}`;
}
