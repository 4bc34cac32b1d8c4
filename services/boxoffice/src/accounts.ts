import { entityKey as key } from "@tessera/events/entity-key";
import { uuid } from "@tessera/kit/pg/table";
import type { Account } from "@tessera/kit/service/account";
import { topics } from "@tessera/protos/topics";
import { recountedTakenRows, takenKey, takenRows } from "./store/capacity.ts";
import { heldRows } from "./store/holds.ts";
import { voucherUseRows } from "./store/positions.ts";
import { claimRows } from "./store/voucher-claim-rows.ts";
import { recountedUsesRows, usesRows } from "./store/voucher-use-rows.ts";

/** Accounts that are reconciled with voucher, and the counts. */
export const accounts: readonly Account[] = [
  {
    name: "what vouchers take of quotas and seats",
    topic: topics.voucherChanged,
    movedBy: topics.voucherUseChanged,
    key,
    rows: claimRows,
    harm: "quotas have more or less left than they should, or seats are free that are not",
  },
  {
    name: "how often positions use vouchers",
    topic: topics.voucherChanged,
    key,
    rows: usesRows,
    truth: recountedUsesRows,
    harm: "quotas have more or less left than they should, or seats are free that are not",
  },
  {
    name: "what positions take of products",
    topic: topics.positionChanged,
    key: takenKey,
    rows: takenRows,
    truth: recountedTakenRows,
    harm: "quotas have more or less left than they should",
    mend: "count again by the statement under `What positions take` in docs/operations.md",
  },
  {
    name: "holds of capacity that are under way",
    topic: topics.voucherChanged,
    key: { ...key, id: uuid },
    rows: heldRows,
    harm: "quotas have less left than they should",
    isPart: true,
  },
  {
    name: "positions that were bought with vouchers",
    topic: topics.voucherUseChanged,
    key,
    rows: voucherUseRows,
    harm: "`redeemed` and `budget_used` of vouchers are wrong",
  },
];
