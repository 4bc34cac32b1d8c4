import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { type Availability, computeAvailability } from "../domain/availability.ts";
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

/** Reads what is left of quotas, by id. */
export async function readAvailability(
  db: Queryable,
  scope: Scope,
  ids: readonly number[],
): Promise<Map<number, Availability>> {
  const quotas = await readQuotas(db, scope, { ids, subevents: [] });
  const variationsOf = await readVariationsOf(db, scope);
  return computeEach(quotas, variationsOf, await readLedger(db, [scope]));
}

/** Reads the rest of the quotas that these may take of, and the present claims of these vouchers. */
export async function readRoom(tx: Tx, scope: Scope, takers: readonly Taker[]): Promise<Room> {
  const quotas = await readQuotas(tx, scope, {
    ids: [...new Set(takers.flatMap(({ quota }) => quota ?? []))],
    subevents: [...new Set(takers.map(({ subevent }) => subevent))],
  });
  const variationsOf = await readVariationsOf(tx, scope);
  const vouchers = takers.flatMap(({ voucher }) => (voucher === undefined ? [] : [{ ...scope, voucher }]));
  const ledger = await readLedger(tx, [scope], vouchers);
  const availability = computeEach(quotas, variationsOf, ledger);
  const withRoom = (quota: QuotaRow) => ({ ...quota, left: availability.get(quota.id)?.left ?? null });
  return { match: matchQuotas(quotas.map(withRoom), variationsOf), claims: ledger.claims, uses: ledger.uses };
}

type VariationsOf = ReadonlyMap<number, readonly number[]>;

async function readVariationsOf(db: Queryable, scope: Scope): Promise<VariationsOf> {
  return new Map((await readVariations(db, [scope])).map(({ id, variations }) => [id, variations]));
}

/** Computes what is left of quotas of one event, by id. */
export function computeEach(
  quotas: readonly QuotaRow[],
  variationsOf: VariationsOf,
  { claims, taken: positions }: Pick<Ledger, "claims" | "taken">,
): Map<number, Availability> {
  const taken = Map.groupBy(positions, ({ subevent }) => subevent);
  const byVouchers = sumByQuota(claims, matchQuotas(quotas, variationsOf));
  return new Map(
    quotas.map((quota) => [
      quota.id,
      computeAvailability(quota, taken.get(quota.subevent) ?? [], byVouchers.get(quota.id)),
    ]),
  );
}
