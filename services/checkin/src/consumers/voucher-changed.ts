import { consume } from "@tessera/kit/bus/consume";
import { type Fact, newestPerKey } from "@tessera/kit/bus/fact";
import type { Tx } from "@tessera/kit/pg/database";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { nameOf } from "../store/keys.ts";
import { findKeptVouchers, vouchers } from "../store/vouchers.ts";

/** Keeps the codes of vouchers that were redeemed. Most vouchers never are, so their facts change nothing here. */
export const voucherChanged = consume(topics.voucherChanged, applyVouchers, {
  copy: vouchers,
  sweep: (tx, { before }) => vouchers.deleteOlder(tx, before),
});

async function applyVouchers(tx: Tx, facts: readonly Fact<VoucherChanged>[]): Promise<void> {
  const deleted = newestPerKey(facts.filter(({ value }) => value === null)).map(({ key }) => parseEntityKey(key));
  await vouchers.delete(
    tx,
    deleted.map(({ organizer, event, id }) => ({ organizer, event, id: Number(id) })),
  );
  const changed = newestPerKey(facts).flatMap(({ value }) => value ?? []);
  const unredeemed = changed.filter((fact) => !isRedeemed(fact));
  // It may have been redeemed before, and tickets of canceled orders name it.
  const kept = await findKeptVouchers(tx, unredeemed);
  await vouchers.upsertNewer(
    tx,
    changed
      .filter((fact) => isRedeemed(fact) || kept.has(nameOf(fact)))
      .map(({ organizer, event, id, revision, voucher }) => ({
        organizer,
        event,
        id,
        revision,
        code: voucher?.fields?.code ?? "",
      })),
  );
}

function isRedeemed({ voucher }: VoucherChanged): boolean {
  return (voucher?.redeemed ?? 0) > 0;
}
