/** The claim of a voucher: `amount` of each matching quota on its own date. */
export interface Claim {
  readonly item: number | null;
  readonly variation: number | null;
  readonly quota: number | null;
  readonly subevent: number | null;
  readonly amount: number;
}

/** A claim of a voucher, or a sum of claims with the same products; expired ones are left out. */
export interface ReadClaim extends Claim {
  /**
   * `sum`: of confirmed claims, or of held claims of vouchers without others. `several`: each claim of a voucher that
   * has several; its confirmed one is also part of a sum. `own`: a claim of a requested voucher.
   */
  readonly part: "sum" | "several" | "own";
  /** Null: a sum. */
  readonly voucher: number | null;
  readonly isHeld: boolean;
}

interface MatchedQuota {
  readonly id: number;
  readonly items: readonly number[];
  readonly variations: readonly number[];
  readonly subevent: number | null;
}

export interface QuotaMatch<Q> {
  /** The quotas that a claim depends on. */
  affectedBy(claim: Omit<Claim, "amount">): readonly Q[];
}

/**
 * Indexes the quotas of products: the quota that a claim names, those of its variation, or those of its item. An item
 * with variations stands for all of them. Products belong to the quotas of one date.
 */
export function matchQuotas<Q extends MatchedQuota>(
  quotas: Iterable<Q>,
  variationsOf: ReadonlyMap<number, readonly number[]>,
): QuotaMatch<Q> {
  const sorted = [...quotas].sort((one, other) => one.id - other.id);
  const byId = new Map(sorted.map((quota) => [quota.id, quota]));
  const byProduct = new Map<string, Q[]>();
  for (const quota of sorted) {
    const products = [
      ...quota.items.map((id) => productKey(quota.subevent, "item", id)),
      ...quota.variations.map((id) => productKey(quota.subevent, "variation", id)),
    ];
    for (const key of new Set(products)) {
      const listed = byProduct.get(key);
      if (listed === undefined) byProduct.set(key, [quota]);
      else listed.push(quota);
    }
  }

  function search({ item, variation, quota, subevent }: Omit<Claim, "amount">): readonly Q[] {
    if (quota !== null) return [byId.get(quota)].filter((found) => found !== undefined);
    if (variation !== null) return byProduct.get(productKey(subevent, "variation", variation)) ?? [];
    if (item === null) return [];
    const variations = variationsOf.get(item) ?? [];
    if (variations.length === 0) return byProduct.get(productKey(subevent, "item", item)) ?? [];
    const found = new Set(variations.flatMap((id) => byProduct.get(productKey(subevent, "variation", id)) ?? []));
    return [...found].sort((one, other) => one.id - other.id);
  }

  // Thousands of claims name the same few products.
  const known = new Map<string, readonly Q[]>();
  return {
    affectedBy(claim) {
      const key = [claim.quota, claim.variation, claim.item, claim.subevent].join("/");
      const found = known.get(key) ?? search(claim);
      known.set(key, found);
      return found;
    },
  };
}

function productKey(subevent: number | null, kind: "item" | "variation", id: number): string {
  return `${subevent}/${kind}/${id}`;
}

/** A voucher takes only of quotas of its date. */
export function takesOf(claim: Pick<Claim, "subevent">, quota: Pick<MatchedQuota, "subevent">): boolean {
  return claim.subevent === quota.subevent;
}

/**
 * Sums the claims of vouchers, by the id of the quota.
 *
 * Of several claims of a voucher the greatest counts: a hold replaces the present claim, and is confirmed or released
 * later.
 */
export function sumByQuota<Q extends MatchedQuota>(
  read: readonly ReadClaim[],
  match: QuotaMatch<Q>,
): Map<number, number> {
  const taken = new Map<number, number>();
  const add = (quota: Q, amount: number) => taken.set(quota.id, (taken.get(quota.id) ?? 0) + amount);
  for (const claim of read) {
    if (claim.part !== "sum") continue;
    for (const quota of match.affectedBy(claim)) if (takesOf(claim, quota)) add(quota, claim.amount);
  }
  const several = read.filter(({ part }) => part === "several");
  for (const claims of Map.groupBy(several, ({ voucher }) => voucher).values()) {
    const confirmed = claims.filter(({ isHeld }) => !isHeld);
    for (const quota of new Set(claims.flatMap((claim) => match.affectedBy(claim)))) {
      add(quota, greatest(claims, quota, match) - greatest(confirmed, quota, match));
    }
  }
  return taken;
}

/** The greatest amount of a quota among claims of one voucher. */
export function greatest<Q extends MatchedQuota>(claims: readonly Claim[], quota: Q, match: QuotaMatch<Q>): number {
  const taking = claims.filter((claim) => takesOf(claim, quota) && match.affectedBy(claim).includes(quota));
  return Math.max(0, ...taking.map(({ amount }) => amount));
}
