import { bringsBackErased, findErasedUntil } from "@tessera/events/personal-data/erased-until";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { entityKey, topics } from "@tessera/protos/topics";
import type { RecordKind, Scope } from "@tessera/records/kind";
import { notKnown, refuseEach } from "@tessera/records/validate";
import { voucherRecord } from "@tessera/resources/voucher";
import { compileSchema } from "@tessera/schema/schema";
import { firstIdMadeHere } from "@tessera/values";
import { storeChanged } from "../capacity/store-changed.ts";
import { blocksNoDate, blocksNothing } from "../domain/check-voucher.ts";
import { countOf, sumOf } from "../domain/count-uses.ts";
import { findUnknown } from "../domain/find-unknown.ts";
import { namesGuest } from "../domain/guest-comment.ts";
import { normalizeCode } from "../domain/normalize-code.ts";
import type { VoucherFields } from "../domain/voucher.ts";
import type { EntityKey } from "../store/keys.ts";
import { readClock } from "../store/reservations.ts";
import {
  deleteVouchers,
  findVouchers,
  freeCodes,
  lockVouchers,
  nextRevisions,
  type StoredVoucher,
} from "../store/stored-vouchers.ts";
import { forgetFormerUses, putSums, readUsesOf } from "../store/uses.ts";
import { fromWireFields, voucherFields } from "../wire/voucher-messages.ts";
import type { BroughtVoucher, Known, Mentioned } from "./known.ts";

interface ImportedVoucher extends VoucherFields {
  readonly id: number;
  readonly redeemed: number;
  readonly budgetUsed: string;
  /** Null: the moment of import. */
  readonly asOf: number | null;
  readonly created: number | null;
}

const check = compileSchema(voucherRecord, { namesParts: true });

const erasedComment =
  "Comments of the waiting list of this event were erased (waiting_list), and no record may bring one back.";

const madeHere = `Vouchers with ids from ${firstIdMadeHere} on were made here; no record may bring or replace one.`;

/**
 * A voucher, with its id and its uses. An import is refused neither for lack of capacity nor for a rule about new
 * vouchers: the shop has sold it as it is.
 */
export const voucher: RecordKind<ImportedVoucher, Mentioned, Known> = {
  name: "voucher",
  schema: voucherRecord,
  read(data) {
    const checked = check(data);
    if (!checked.ok) return checked;
    const { id, redeemed, budget_used: budgetUsed, as_of: asOf = null, created = null } = checked.value;
    if (id >= firstIdMadeHere) return { ok: false, errors: { id: [madeHere] } };
    const fields = fromWireFields(voucherFields.toMessage(checked.value));
    return {
      ok: true,
      value: { ...fields, code: normalizeCode(fields.code), id, redeemed, budgetUsed, asOf, created },
    };
  },
  keyOf: ({ id }) => String(id),
  mention({ code, item, variation, quota, subevent }, mentioned) {
    mentioned.codes.add(code);
    if (item !== null) mentioned.items.add(item);
    if (variation !== null) mentioned.variations.add(variation);
    if (quota !== null) mentioned.quotas.add(quota);
    if (subevent !== null) mentioned.subevents.add(subevent);
  },
  bring: ({ code }): BroughtVoucher => ({ names: [code], data: { code } }),
  async refuse(tx, { scope, values, known }) {
    const erased = await findErasedUntil(tx, scope);
    const createdAt = new Map<number, number>();
    if (erased.size > 0) {
      const keys = values.map(({ id }) => ({ ...scope, id }));
      for (const held of await findVouchers(tx, keys)) createdAt.set(held.id, held.createdAt);
    }
    const owners = keptCodes(values, known.codes);
    return refuseEach(
      values,
      (value, addError) => {
        const { id, code } = value;
        // A later time in the record does not make a voucher from before the erasure a new one.
        const times = [value.created, createdAt.get(id)].filter((at) => typeof at === "number");
        const isOld = times.length === 0 || times.some((at) => bringsBackErased(erased, "waiting_list", at));
        if (isOld && erased.has("waiting_list") && namesGuest(value)) addError("comment", erasedComment);
        const owner = owners.get(code) ?? id;
        if (owner !== id) addError("code", `Voucher ${owner} has this code.`);
      },
      ({ id, code }) => owners.set(code, owners.get(code) ?? id),
    );
  },
  // References may have been deleted in the shop.
  doubt: ({ values, known }) =>
    refuseEach(values, (value, addWarning) => {
      for (const [name, at] of findUnknown(value, known)) addWarning(name, notKnown(`${name} ${at}`));
      if (value.quota !== null && value.item !== null)
        addWarning("item", "A voucher is for a quota or for a product: this one is for all products of the quota.");
      if (blocksNothing(value)) addWarning("block_quota", "It blocks nothing: it names neither a product nor a quota.");
      else if (known.series === true && blocksNoDate(value))
        addWarning("block_quota", "It blocks nothing: in an event series it needs a date.");
    }),
  async store(tx, { scope, values }) {
    const held = await findHeld(
      tx,
      scope,
      values.map(({ id }) => id),
    );
    // Read after the locks: all uses that are known here happened before.
    const now = await readClock(tx);
    const changed: StoredVoucher[] = [];
    for (const value of values) {
      const before = held.get(value.id);
      const row = toStored(value, { held: before, now });
      if (isSame(row, before)) continue;
      const isMoved =
        row.countedAsOf !== before?.countedAsOf ||
        row.baseRedeemed !== before.baseRedeemed ||
        row.baseBudgetUsed !== before.baseBudgetUsed;
      changed.push(isMoved ? { ...row, ...(await countAgain(tx, { ...scope, ...row })) } : row);
    }
    const codes = new Set(changed.map(({ code }) => code));
    const isPassedOn = ({ id, code }: StoredVoucher) => {
      const before = held.get(id)?.code;
      return before !== undefined && before !== code && codes.has(before);
    };
    const givers = changed.filter(isPassedOn).map(({ id }) => id);
    await freeCodes(tx, scope, givers);
    await storeChanged(
      tx,
      changed.map((row) => ({ ...row, ...scope })),
    );
  },
  async remove(tx, { scope, keys }) {
    const ids = keys.map(Number);
    const held = await findHeld(tx, scope, ids);
    await deleteVouchers(
      tx,
      ids.map((id) => ({ ...scope, id })),
    );
    const [deletedAt = 0] = await nextRevisions(tx, 1);
    await tx.retract(
      topics.voucherChanged,
      [...held.keys()].map((id) => entityKey(scope.organizer, scope.event, id)),
      { deletedAt },
    );
  },
};

/** The codes of other vouchers, without those that these vouchers give up. */
function keptCodes(left: readonly ImportedVoucher[], holders: ReadonlyMap<string, number>): Map<string, number> {
  const sent = new Map(left.map(({ id, code }) => [id, code]));
  return new Map([...holders].filter(([code, id]) => (sent.get(id) ?? code) === code));
}

async function findHeld(tx: Queryable, scope: Scope, ids: readonly number[]): Promise<Map<number, StoredVoucher>> {
  const held = await lockVouchers(
    tx,
    ids.map((id) => ({ ...scope, id })),
  );
  return new Map(held.map(({ organizer: _organizer, event: _event, ...voucher }) => [voucher.id, voucher]));
}

/** Counts the uses of a voucher with a new record again: the record contains the uses of its moment. */
async function countAgain(tx: Tx, voucher: EntityKey & StoredVoucher) {
  const { organizer, event, id, countedAsOf } = voucher;
  const sums = sumOf(await readUsesOf(tx, voucher), countedAsOf);
  await putSums(tx, [{ organizer, event, voucher: id, ...sums }]);
  if (countedAsOf !== null) await forgetFormerUses(tx, voucher, countedAsOf);
  return countOf(voucher, sums);
}

/** Fields that a record leaves open stay, and so do the uses, if the record repeats the last one's. */
function toStored(
  { asOf, created, redeemed, budgetUsed, ...voucher }: ImportedVoucher,
  { held, now }: { readonly held: StoredVoucher | undefined; readonly now: number },
): StoredVoucher {
  const saysSame = held?.countedAsOf != null && held.baseRedeemed === redeemed && held.baseBudgetUsed === budgetUsed;
  const countedAsOf = asOf ?? (saysSame ? held.countedAsOf : now);
  const isKept = saysSame && countedAsOf === held.countedAsOf;
  return {
    ...voucher,
    redeemed: isKept ? held.redeemed : redeemed,
    budgetUsed: isKept ? held.budgetUsed : budgetUsed,
    baseRedeemed: redeemed,
    baseBudgetUsed: budgetUsed,
    countedAsOf,
    createdAt: created ?? held?.createdAt ?? now,
    revision: held?.revision ?? 0,
  };
}

function isSame(row: StoredVoucher, held: StoredVoucher | undefined): boolean {
  return (
    held !== undefined && Object.entries(row).every(([name, value]) => held[name as keyof StoredVoucher] === value)
  );
}
