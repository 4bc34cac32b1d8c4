import { entityKey as key } from "@tessera/events/entity-key";
import { uuid } from "@tessera/kit/pg/table";
import type { Account } from "@tessera/kit/service/account";
import { topics } from "@tessera/protos/topics";
import { askedRows } from "../store/asked-holds.ts";
import { countedRows, recountedRows, takenRows } from "../store/recounted-vouchers.ts";
import { noOverdueRows, overdueRows, useRows } from "../store/uses.ts";

/** Accounts that are reconciled with boxoffice, and the counts. */
export const accounts: readonly Account[] = [
  {
    name: "what vouchers take of quotas and seats",
    topic: topics.voucherChanged,
    key,
    rows: takenRows,
    harm: "quotas have more or less left than they should, or seats are free that are not",
  },
  {
    name: "holds of capacity that are under way",
    topic: topics.voucherChanged,
    key: { ...key, id: uuid },
    rows: askedRows,
    harm: "quotas have less left than they should",
    isPart: true,
  },
  {
    name: "positions that were bought with vouchers",
    topic: topics.voucherUseChanged,
    key,
    rows: useRows,
    harm: "`redeemed` and `budget_used` of vouchers are wrong",
  },
  {
    name: "how often vouchers were used",
    topic: topics.voucherUseChanged,
    key,
    rows: countedRows,
    truth: recountedRows,
    harm: "`redeemed` and `budget_used` of vouchers are wrong",
  },
  {
    name: "uses that a shop confirmed more than a day ago, of positions that have not arrived",
    topic: topics.voucherUseChanged,
    key,
    rows: overdueRows,
    truth: noOverdueRows,
    harm: "they count in `redeemed` and `budget_used` until the positions arrive",
    mend: "import the orders of these positions; of an order that was never placed, as a canceled one",
  },
];
