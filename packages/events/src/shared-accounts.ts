import { uuid } from "@tessera/kit/pg/table";
import type { Account } from "@tessera/kit/service/account";
import { topics } from "@tessera/protos/topics";
import { entityKey as key } from "./entity-key.ts";

/** The accounts that boxoffice and voucher both keep: each adds the rows of its side. */
export const sharedAccounts = {
  claims: {
    name: "what vouchers take of quotas and seats",
    topic: topics.voucherChanged,
    key,
    harm: "quotas have more or less left than they should, or seats are free that are not",
  },
  holds: {
    name: "holds of capacity that are under way",
    topic: topics.voucherChanged,
    key: { ...key, id: uuid },
    harm: "quotas have less left than they should",
    isPart: true,
  },
  uses: {
    name: "positions that were bought with vouchers",
    topic: topics.voucherUseChanged,
    key,
    harm: "`redeemed` and `budget_used` of vouchers are wrong",
  },
} satisfies Readonly<Record<string, Omit<Account, "rows">>>;
