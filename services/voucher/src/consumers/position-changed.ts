import { consume } from "@tessera/kit/bus/consume";
import { type Fact, newestPerKey } from "@tessera/kit/bus/fact";
import type { Tx } from "@tessera/kit/pg/database";
import type { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { type Order, OrderStatus, type Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { firstUse, moveUses, sumOf, type Taken, type Use } from "../domain/count-uses.ts";
import type { EntityKey } from "../store/keys.ts";
import { deleteUses, findOlderUses, type PositionKey, putUses, readUses, type StoredUse } from "../store/uses.ts";
import { lockVouchers, nextRevisions, putVouchers, type StoredVoucher } from "../store/vouchers.ts";
import { toVoucherFact } from "../wire/vouchers.ts";

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
export const positionChanged = consume(
  topics.positionChanged,
  async (tx, facts) => applyChanges(tx, newestPerKey(facts).map(readChange)),
  { sweep: sweepUses },
);

function readChange({ key, value }: Fact<PositionChanged>): Change {
  const { organizer, event, id } = parseEntityKey(key);
  const place = { organizer, event, position: Number(id) };
  // Nothing of a deleted position is left that a later state could contradict.
  if (value === null) return { ...place, revision: Number.MAX_SAFE_INTEGER, use: null };
  const { position, revision } = value;
  const order = position?.order;
  if (position === undefined || order === undefined || order.status === OrderStatus.UNSPECIFIED)
    throw new Error("a fact says nothing of its position, or of the order of it");
  const { voucher } = position;
  return { ...place, revision, use: voucher === undefined ? null : toUse(position, { voucher, order }) };
}

function toUse(
  { canceled, voucherBudgetUse }: Position,
  { voucher, order }: { readonly voucher: number; readonly order: Order },
): NonNullable<Change["use"]> {
  const isOpen = order.status === OrderStatus.PENDING || order.status === OrderStatus.PAID;
  const counts = isOpen && !canceled;
  return { voucher, placed: order.placedAt, counts, budget: counts ? (voucherBudgetUse ?? "0.00") : "0.00" };
}

async function applyChanges(tx: Tx, changes: readonly Change[]): Promise<void> {
  const known = byPosition(await readUses(tx, changes));
  const concerned = changes.filter((change) => change.use !== null || known.has(nameOf(change)));
  if (concerned.length === 0) return;
  const mentioned = concerned.flatMap((change) => {
    const ids = [change.use?.voucher, known.get(nameOf(change))?.voucher].filter((id) => id !== undefined);
    return ids.map((id): EntityKey => ({ organizer: change.organizer, event: change.event, id }));
  });
  const keys = [...new Map(mentioned.map((key) => [voucherName(key), key])).values()];
  const vouchers = new Map((await lockVouchers(tx, keys)).map((voucher) => [voucherName(voucher), voucher]));
  // Read again under the locks: a record may have moved what it contains.
  const before = byPosition(await readUses(tx, concerned));
  const newer = concerned.filter((change) => (before.get(nameOf(change))?.revision ?? -1) < change.revision);
  const after = newer.flatMap((change) => toStoredUse(change, before.get(nameOf(change)), vouchers));
  await deleteUses(
    tx,
    newer.filter(({ use }) => use === null),
  );
  await putUses(tx, after);
  await moveCounts(tx, vouchers, {
    before: newer.flatMap((change) => before.get(nameOf(change)) ?? []),
    after,
  });
}

function toStoredUse(
  { use, ...change }: Change,
  before: StoredUse | undefined,
  vouchers: ReadonlyMap<string, StoredVoucher>,
): StoredUse[] {
  if (use === null) return [];
  const place = { organizer: change.organizer, event: change.event, position: change.position };
  const baseline = vouchers.get(voucherName({ ...place, id: use.voucher }));
  const isSame = before?.voucher === use.voucher;
  const base = isSame ? { ...before, ...use } : firstUse(use, before === undefined ? baseline : undefined);
  return [{ ...base, ...place, revision: change.revision }];
}

/** Moves what vouchers count, and publishes those that are changed by it. */
async function moveCounts(
  tx: Tx,
  vouchers: ReadonlyMap<string, EntityKey & StoredVoucher>,
  { before, after }: { readonly before: readonly StoredUse[]; readonly after: readonly StoredUse[] },
): Promise<void> {
  const nameOfUse = ({ organizer, event, voucher }: StoredUse) => voucherName({ organizer, event, id: voucher });
  const [earlier, later] = [Map.groupBy(before, nameOfUse), Map.groupBy(after, nameOfUse)];
  const changed = [...vouchers].flatMap(([name, voucher]) => {
    const moved = moveUses(voucher, { before: sumOf(earlier.get(name) ?? []), after: sumOf(later.get(name) ?? []) });
    const isSame = moved.redeemed === voucher.redeemed && moved.budgetUsed === voucher.budgetUsed;
    return isSame ? [] : [{ ...voucher, ...moved }];
  });
  const revisions = await nextRevisions(tx, changed.length);
  const stored = changed.map((voucher, index) => ({ ...voucher, revision: revisions[index] ?? 0 }));
  for (const ofEvent of Map.groupBy(stored, ({ organizer, event }) => `${organizer}/${event}`).values()) {
    const [first] = ofEvent;
    if (first !== undefined) await putVouchers(tx, first, ofEvent);
  }
  await tx.publish(
    topics.voucherChanged,
    stored.map((voucher) => toVoucherFact(voucher, voucher, [])),
  );
}

/** Positions read at a time. */
const sweptAtOnce = 500;

/** Takes back the uses of positions that a rebuild left out. */
async function sweepUses(tx: Tx, { before: revision }: { readonly before: number }): Promise<number> {
  let removed = 0;
  for (;;) {
    const older = await findOlderUses(tx, { revision, limit: sweptAtOnce });
    if (older.length === 0) return removed;
    await applyChanges(
      tx,
      older.map(({ organizer, event, position }) => ({ organizer, event, position, revision, use: null })),
    );
    removed += older.length;
  }
}

function byPosition(uses: readonly StoredUse[]): Map<string, StoredUse> {
  return new Map(uses.map((use) => [nameOf(use), use]));
}

function nameOf({ organizer, event, position }: PositionKey): string {
  return `${organizer}/${event}/${position}`;
}

function voucherName({ organizer, event, id }: EntityKey): string {
  return `${organizer}/${event}/${id}`;
}
