import type { Tx } from "@tessera/kit/pg/database";
import { computeAvailability } from "../domain/availability.ts";
import type { Scope } from "../domain/scope.ts";
import { matchQuotas, type QuotaMatch, type ReadClaim, sumByQuota } from "../domain/voucher-claims.ts";
import { type QuotaRow, readQuotas, readVariations } from "../store/capacity.ts";
import { type Ledger, readLedger } from "../store/voucher-claim-rows.ts";

/** A voucher or a sale that takes of quotas. */
interface Taker {
  readonly voucher?: number;
  readonly quota: number | null;
  readonly subevent: number | null;
}

interface Room extends Pick<Ledger, "uses"> {
  readonly match: QuotaMatch<QuotaRow & { readonly left: number | null }>;
  readonly claims: readonly ReadClaim[];
}

/** Reads the rest of the quotas that these may take of, and the present claims of these vouchers. */
export async function readRoom(tx: Tx, scope: Scope, takers: readonly Taker[]): Promise<Room> {
  const quotas = await readQuotas(tx, scope, {
    ids: [...new Set(takers.flatMap(({ quota }) => quota ?? []))],
    subevents: [...new Set(takers.map(({ subevent }) => subevent))],
  });
  const variationsOf = new Map((await readVariations(tx, [scope])).map(({ id, variations }) => [id, variations]));
  const vouchers = takers.flatMap(({ voucher }) => (voucher === undefined ? [] : [{ ...scope, voucher }]));
  const { claims, uses, taken: positions } = await readLedger(tx, [scope], vouchers);
  const taken = Map.groupBy(positions, ({ subevent }) => subevent);
  const byVouchers = sumByQuota(claims, matchQuotas(quotas, variationsOf));
  const withRoom = (quota: QuotaRow) => {
    const { left } = computeAvailability(quota, taken.get(quota.subevent) ?? [], byVouchers.get(quota.id));
    return { ...quota, left };
  };
  return { match: matchQuotas(quotas.map(withRoom), variationsOf), claims, uses };
}
