import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import { describeFailure } from "./import-until-answered.ts";
import { judgePlaces, type Places, readPlaces, sumPlaces } from "./shared-quotas.ts";
import { isExpired, type ToldVoucher, type VoucherTerms } from "./voucher-traffic.ts";

const pauseMs = 60;
const mostFound = 20;

export interface QuotaWatch {
  readonly found: ReadonlySet<string>;
  /** How many moments were looked at, and how many places of vouchers in all of them. */
  readonly seen: { moments: number; places: number };
  close(): Promise<void>;
}

/** Looks at the quotas again and again: nothing is overbooked, and every voucher keeps the place of which its client was told. */
export function watchQuotas(db: Db, told: readonly ToldVoucher[]): QuotaWatch {
  const found = new Set<string>();
  const seen = { moments: 0, places: 0 };
  let isClosing = false;

  async function watch(): Promise<void> {
    for (; !isClosing && found.size < mostFound; await sleep(pauseMs)) {
      const before = told.flatMap((voucher) => {
        const terms = certainTerms(voucher);
        return terms === undefined ? [] : [{ voucher, terms, changes: voucher.changes }];
      });
      const places = await readPlaces(db);
      const kept = before.filter(({ voucher, changes }) => voucher.changes === changes);
      const lost = kept.flatMap(({ voucher, terms }) => findLost(places, voucher.id, terms));
      for (const each of [...judgePlaces(places), ...lost]) found.add(each);
      seen.moments += 1;
      seen.places += kept.length;
    }
  }

  const watching = watch();
  watching.catch((error: unknown) => found.add(describeFailure(error)));
  return {
    found,
    seen,
    async close() {
      isClosing = true;
      await watching;
    },
  };
}

/** What a voucher is now, where its client knows; undefined: it is being changed, or an answer was lost. */
function certainTerms({ possible, deletion, isChanging }: ToldVoucher): VoucherTerms | undefined {
  const [terms, ...others] = possible;
  if (terms === undefined || others.length > 0 || deletion !== "none" || isChanging) return undefined;
  return JSON.parse(terms) as VoucherTerms;
}

/** A voucher and the positions that use it have all its places together, also while one passes to the other. */
function findLost(places: readonly Places[], voucher: number, terms: VoucherTerms): string[] {
  if (isExpired(terms)) return [];
  const quota = terms.quota ?? terms.item ?? 0;
  const has = sumPlaces(places, { quota, voucher, by: ["vouchers", "uses"] });
  return has < terms.max_usages ? [`voucher ${voucher} has ${has} of its ${terms.max_usages} places`] : [];
}
