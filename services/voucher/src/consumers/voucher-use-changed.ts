import { consume } from "@tessera/kit/bus/consume";
import { type Fact, newestPerKey } from "@tessera/kit/bus/fact";
import type { Tx } from "@tessera/kit/pg/database";
import type { VoucherUseChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { firstUse, type Taken, takeOver, type Use } from "../domain/count-uses.ts";
import { fault } from "../faults.ts";
import { moveCounts } from "../move-counts.ts";
import { type EntityKey, nameOf } from "../store/keys.ts";
import { lockEnds, noteEnded } from "../store/reservations.ts";
import {
  addUses,
  deleteUses,
  findOlderUses,
  type PositionKey,
  putUses,
  readUses,
  type StoredUse,
} from "../store/uses.ts";
import { lockVouchers, recountNext, recountVouchers, type StoredVoucher } from "../store/vouchers.ts";
import { storeChanged } from "../store-changed.ts";

/** What became of a position; null: it does not name a voucher, or is gone. */
interface Change extends PositionKey {
  readonly revision: number;
  readonly use: (Taken & Pick<Use, "voucher" | "placed">) | null;
}

/**
 * Counts the positions that were bought with vouchers.
 *
 * A position has one use, with the revision of its state: a state that comes again, or after a later one, changes
 * nothing. Everything that changes uses of a voucher locks the voucher first.
 */
export const voucherUseChanged = consume(
  topics.voucherUseChanged,
  async (tx, facts) => applyChanges(tx, newestPerKey(facts).map(readChange)),
  { sweep: sweepUses },
);

/** The revision of a deletion. */
const afterAll = Number.MAX_SAFE_INTEGER;

function readChange({ key, value }: Fact<VoucherUseChanged>): Change {
  const { organizer, event, id } = parseEntityKey(key);
  const place = { organizer, event, position: Number(id) };
  // Nothing of a deleted use is left that a later state could contradict.
  if (value === null) return { ...place, revision: afterAll, use: null };
  if (value.orderStatus === OrderStatus.UNSPECIFIED)
    throw new Error("a fact says nothing of the order of its position");
  return { ...place, revision: value.revision, use: toUse(value) };
}

function toUse({
  voucher,
  orderPlacedAt: placed,
  orderStatus,
  canceled,
  budgetUse = "0.00",
}: VoucherUseChanged): NonNullable<Change["use"]> {
  const isOpen = orderStatus === OrderStatus.PENDING || orderStatus === OrderStatus.PAID;
  const counts = isOpen && !canceled;
  return { voucher, placed, counts, budget: counts ? budgetUse : "0.00" };
}

async function applyChanges(tx: Tx, changes: readonly Change[]): Promise<void> {
  // Of deletions alone: a sweep ends no use that was only confirmed.
  await lockEnds(
    tx,
    changes.filter((change) => change.revision === afterAll),
  );
  const known = byPosition(await readUses(tx, changes));
  await noteEnded(
    tx,
    changes.filter(({ use }) => use === null),
  );
  const concerned = changes.filter((change) => change.use !== null || known.has(nameOfPosition(change)));
  if (concerned.length === 0) return;
  const mentioned = concerned.flatMap((change) => {
    const ids = [change.use?.voucher, known.get(nameOfPosition(change))?.voucher].filter((id) => id !== undefined);
    return ids.map((id): EntityKey => ({ organizer: change.organizer, event: change.event, id }));
  });
  const keys = [...new Map(mentioned.map((key) => [nameOf(key), key])).values()];
  const vouchers = new Map((await lockVouchers(tx, keys)).map((voucher) => [nameOf(voucher), voucher]));
  // Read again under the locks: a record may have moved what it contains.
  const before = byPosition(await readUses(tx, concerned));
  const locked = new Set(keys.map(nameOf));
  if ([...before.values()].some((use) => !locked.has(nameOf({ ...use, id: use.voucher })))) throw confirmedNow();
  const newer = concerned.filter((change) => (before.get(nameOfPosition(change))?.revision ?? -1) < change.revision);
  const after = newer.flatMap((change) => toStoredUse(change, before.get(nameOfPosition(change)), vouchers));
  await deleteUses(
    tx,
    newer.filter(({ use }) => use === null),
  );
  const { added = [], replaced = [] } = Object.groupBy(after, (use) =>
    before.has(nameOfPosition(use)) ? "replaced" : "added",
  );
  if ((await addUses(tx, added)) < added.length) throw confirmedNow();
  await putUses(tx, replaced);
  await moveCounts(tx, vouchers, {
    before: newer.flatMap((change) => before.get(nameOfPosition(change)) ?? []),
    after,
  });
}

/** A shop has confirmed the position for a voucher whose lock is not held: it is read again. */
function confirmedNow() {
  return fault("concurrent_change", "a position is being confirmed");
}

function toStoredUse(
  { use, ...change }: Change,
  before: StoredUse | undefined,
  vouchers: ReadonlyMap<string, StoredVoucher>,
): StoredUse[] {
  if (use === null) return [];
  const place = { organizer: change.organizer, event: change.event, position: change.position };
  const baseline = vouchers.get(nameOf({ ...place, id: use.voucher }));
  return [{ ...chooseBase(use, { before, baseline }), ...place, revision: change.revision }];
}

function chooseBase(
  use: NonNullable<Change["use"]>,
  { before, baseline }: { readonly before: StoredUse | undefined; readonly baseline: StoredVoucher | undefined },
): Use {
  if (before === undefined) return firstUse(use, baseline);
  if (before.revision === 0) return takeOver(use, { confirmed: before, baseline });
  return before.voucher === use.voucher ? { ...before, ...use } : firstUse(use, undefined);
}

/** Positions read at a time. */
const sweptAtOnce = 500;

const recountedAtOnce = 5000;

/** Takes back the uses of positions that a rebuild left out, and corrects vouchers that count something else than their uses. */
async function sweepUses(tx: Tx, { before: revision }: { readonly before: number }): Promise<number> {
  let removed = 0;
  for (;;) {
    const older = await findOlderUses(tx, { revision, limit: sweptAtOnce });
    if (older.length === 0) break;
    await applyChanges(
      tx,
      older.map(({ organizer, event, position }) => ({ organizer, event, position, revision, use: null })),
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
      // Again under the locks: they may have been right, and changing.
      const truths = new Map((await recountVouchers(tx, wrong)).map((truth) => [nameOf(truth), truth]));
      const changed = locked.flatMap((voucher) => {
        const truth = truths.get(nameOf(voucher));
        if (truth === undefined || truth.isRight) return [];
        const { redeemed, budgetUsed } = truth;
        return [{ ...voucher, redeemed, budgetUsed }];
      });
      await storeChanged(tx, changed);
    }
    after = counted.at(-1);
    isMore = counted.length === recountedAtOnce;
  }
}

function byPosition(uses: readonly StoredUse[]): Map<string, StoredUse> {
  return new Map(uses.map((use) => [nameOfPosition(use), use]));
}

function nameOfPosition({ organizer, event, position }: PositionKey): string {
  return `${organizer}/${event}/${position}`;
}
