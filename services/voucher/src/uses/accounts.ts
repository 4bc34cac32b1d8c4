import { entityKey as key } from "@tessera/events/entity-key";
import { sharedAccounts } from "@tessera/events/shared-accounts";
import type { Account } from "@tessera/kit/service/account";
import { topics } from "@tessera/protos/topics";
import { askedRows } from "../store/asked-holds.ts";
import { countedRows, recountedRows } from "../store/recounted-vouchers.ts";
import { takenRows } from "../store/taken-rows.ts";
import { noOverdueRows, overdueRows, useRows } from "../store/uses.ts";

/** Accounts that are reconciled with boxoffice, and the counts. */
export const accounts: readonly Account[] = [
  { ...sharedAccounts.claims, rows: takenRows },
  { ...sharedAccounts.holds, rows: askedRows },
  { ...sharedAccounts.uses, rows: useRows },
  {
    name: "how often vouchers were used",
    topic: topics.voucherUseChanged,
    key,
    rows: countedRows,
    truth: recountedRows,
    harm: sharedAccounts.uses.harm,
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
