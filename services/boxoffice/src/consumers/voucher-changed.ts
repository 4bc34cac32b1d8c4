import { consume } from "@tessera/kit/bus/consume";
import { type Fact, newestPerKey } from "@tessera/kit/bus/fact";
import type { Tx } from "@tessera/kit/pg/database";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { endHolds, endLostHolds } from "../store/holds.ts";
import { forgetClaims, forgetOlderClaims, voucherClaims } from "../store/voucher-claim-rows.ts";
import { recountAllUses } from "../store/voucher-use-rows.ts";
import { storeStates } from "../uses/store-states.ts";

/**
 * Keeps the capacity and seats that vouchers take.
 *
 * In one transaction, the state of a fact replaces the claim of its voucher, and ends holds on earlier states: voucher
 * confirms a hold with the very next state or never, so any later fact ends the hold. A fact of one voucher says
 * nothing about others of the same hold. Vouchers of a removed event take nothing.
 */
export const voucherChanged = consume(topics.voucherChanged, applyVouchers, {
  copy: voucherClaims,
  async sweep(tx, { before }) {
    await endLostHolds(tx, before);
    const forgotten = await forgetOlderClaims(tx, before);
    await recountAllUses(tx);
    return forgotten;
  },
});

async function applyVouchers(tx: Tx, facts: readonly Fact<VoucherChanged>[]): Promise<void> {
  // Lock order: holds, then claims, as in `tellVouchers`, whose claim of a deleted voucher is removed here.
  await endHolds(tx, facts.flatMap(toEnd));
  // Deletions first: a voucher that was deleted and imported again has new revisions.
  const deleted = newestPerKey(facts.filter(({ value }) => value === null)).map(({ key }) => parseEntityKey(key));
  await forgetClaims(
    tx,
    deleted.map(({ organizer, event, id }) => ({ organizer, event, id: Number(id) })),
  );
  await storeStates(
    tx,
    newestPerKey(facts).flatMap(({ value }) => value ?? []),
  );
}

/** The revision up to which holds of a voucher have ended. */
function toEnd({ key, value, deletedAt }: Fact<VoucherChanged>): Parameters<typeof endHolds>[1][number][] {
  const { organizer, event, id } = parseEntityKey(key);
  const changed = value === null ? deletedAt : value.changed;
  return changed === undefined ? [] : [{ organizer, event, voucher: Number(id), changed }];
}
