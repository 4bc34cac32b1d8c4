import { consume } from "@tessera/kit/bus/consume";
import { type Fact, newestPerKey } from "@tessera/kit/bus/fact";
import type { Tx } from "@tessera/kit/pg/database";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { endHolds, endLostHolds } from "../store/holds.ts";
import { forgetClaims, forgetOlderClaims, recountUses, voucherClaims } from "../store/voucher-claim-rows.ts";
import { storeStates } from "../voucher-states.ts";

/**
 * Keeps what vouchers take of capacity and seats.
 *
 * In one transaction, the state of a fact replaces what its voucher took, and ends the holds that were asked for on an
 * earlier state: voucher confirms a hold with the very next state or never, so a hold ends in time whichever of the later
 * facts is read. A fact of one voucher says nothing about others of the same hold. Vouchers of a removed event take nothing.
 */
export const voucherChanged = consume(topics.voucherChanged, applyVouchers, {
  copy: voucherClaims,
  async sweep(tx, { before }) {
    await endLostHolds(tx, before);
    const forgotten = await forgetOlderClaims(tx, before);
    await recountUses(tx);
    return forgotten;
  },
});

async function applyVouchers(tx: Tx, facts: readonly Fact<VoucherChanged>[]): Promise<void> {
  // First: who tells a state meanwhile has locked what is held, and its claim goes here, too.
  await endHolds(tx, facts.flatMap(toEnd));
  // A voucher that was deleted and imported again has new revisions, so the state before its tombstone goes first.
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

/** The revision up to which holds of a voucher are over. */
function toEnd({ key, value, deletedAt }: Fact<VoucherChanged>): Parameters<typeof endHolds>[1][number][] {
  const { organizer, event, id } = parseEntityKey(key);
  const changed = value === null ? deletedAt : value.changed;
  return changed === undefined ? [] : [{ organizer, event, voucher: Number(id), changed }];
}
