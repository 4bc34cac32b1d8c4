import type { Db } from "@tessera/kit/pg/database";
import { askForBatch, untilEnded } from "./batch-traffic.ts";
import { event, leftOf, readPlaces, sharedQuotas } from "./shared-quotas.ts";
import { sendVoucher } from "./voucher-traffic.ts";

/** Fills each quota to its size, and asks for one place more by voucher and by batch; returns what is not as it should be. */
export async function fillQuotas({ db, baseUrl }: { readonly db: Db; readonly baseUrl: string }): Promise<string[]> {
  const found: string[] = [];
  const byVoucher = async (item: number, amount: number) => {
    const body = { item, block_quota: true, max_usages: amount };
    const { kind, oddity } = await sendVoucher(baseUrl, { method: "POST", under: "", body });
    return oddity ?? kind;
  };
  const byBatch = async (item: number, amount: number) => {
    const { status } = await untilEnded(db, await askForBatch(baseUrl, { event, item, amount }));
    return status === 200 ? "done" : "refused";
  };
  for (const [index, quota] of sharedQuotas.entries()) {
    const left = leftOf(quota, await readPlaces(db));
    const fill = index % 2 === 0 ? byVoucher : byBatch;
    const filled = left > 0 ? await fill(quota.item, left) : "not tried";
    if (filled !== "done") found.push(`the last ${left} places of quota ${quota.id} are ${filled}`);
    for (const [name, ask] of Object.entries({ byVoucher, byBatch })) {
      const answer = await ask(quota.item, 1);
      if (answer !== "refused") found.push(`one place more than quota ${quota.id} has is ${answer} ${name}`);
    }
  }
  return found;
}
