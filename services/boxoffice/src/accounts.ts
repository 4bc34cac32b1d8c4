import { entityKey as key } from "@tessera/events/entity-key";
import { sharedAccounts } from "@tessera/events/shared-accounts";
import type { Account } from "@tessera/kit/service/account";
import { topics } from "@tessera/protos/topics";
import { recountedTakenRows, takenKey, takenRows } from "./store/capacity.ts";
import { heldRows } from "./store/holds.ts";
import { voucherUseRows } from "./store/positions.ts";
import { claimRows } from "./store/voucher-claim-rows.ts";
import { recountedUsesRows, usesRows } from "./store/voucher-use-rows.ts";

/** Accounts that are reconciled with voucher, and the counts. */
export const accounts: readonly Account[] = [
  { ...sharedAccounts.claims, movedBy: topics.voucherUseChanged, rows: claimRows },
  {
    name: "how often positions use vouchers",
    topic: topics.voucherChanged,
    key,
    rows: usesRows,
    truth: recountedUsesRows,
    harm: sharedAccounts.claims.harm,
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
  { ...sharedAccounts.holds, rows: heldRows },
  { ...sharedAccounts.uses, rows: voucherUseRows },
];
