import { consume } from "@tessera/kit/bus/consume";
import { type Fact, newestPerKey } from "@tessera/kit/bus/fact";
import type { Tx } from "@tessera/kit/pg/database";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { isUuid } from "@tessera/values";
import { lockPresent } from "../store/events.ts";
import { deleteConfirmed } from "../store/holds.ts";
import { voucherClaims } from "../store/voucher-claims.ts";
import { toVoucherClaim } from "../wire/voucher-fact.ts";

/**
 * Keeps what vouchers take of capacity and seats.
 *
 * In one transaction, the state of a fact replaces what its voucher took, and the holds that the fact names end for that
 * voucher: a fact of one voucher says nothing about others of the same hold. An older state changes no newer one, and its
 * holds end, because the newer state contains what they became. Vouchers of a removed event take nothing.
 */
export const voucherChanged = consume(topics.voucherChanged, applyVouchers, {
  copy: voucherClaims,
  sweep: (tx, { before }) => voucherClaims.deleteOlder(tx, before),
});

async function applyVouchers(tx: Tx, facts: readonly Fact<VoucherChanged>[]): Promise<void> {
  // A voucher that was deleted and imported again has new revisions, so the state before its tombstone goes first.
  const deleted = newestPerKey(facts.filter(({ value }) => value === null)).map(({ key }) => parseEntityKey(key));
  await voucherClaims.delete(
    tx,
    deleted.map(({ organizer, event, id }) => ({ organizer, event, id: Number(id) })),
  );
  const changed = newestPerKey(facts).flatMap(({ value }) => (value === null ? [] : (toVoucherClaim(value) ?? [])));
  if (changed.length > 0) {
    const present = new Set((await lockPresent(tx, placesOf(changed))).map(placeOf));
    await voucherClaims.upsertNewer(
      tx,
      changed.filter((claim) => present.has(placeOf(claim))),
    );
  }
  const confirmed = facts.flatMap(({ value }) =>
    value === null ? [] : value.holds.filter(isUuid).map((hold) => ({ ...value, voucher: value.id, hold })),
  );
  await deleteConfirmed(tx, confirmed);
}

interface Place {
  readonly organizer: string;
  readonly event: string;
}

const placeOf = ({ organizer, event }: Place) => `${organizer}/${event}`;

const placesOf = (claims: readonly Place[]) => [...new Map(claims.map((claim) => [placeOf(claim), claim])).values()];
