import { int } from "@tessera/kit/config/config";

export const settings = {
  redeemBatches: int(
    "REDEEM_BATCHES",
    2,
    [1, 16],
    "Batches of scans that are under way at a time, and beside them as many of uploads. More than two only make them smaller, unless the database is far away.",
  ),
  redeemBatchSize: int(
    "REDEEM_BATCH_SIZE",
    64,
    [1, 256],
    "The most scans in one batch; statements over more of them take longer for each.",
  ),
  redeemQueue: int(
    "REDEEM_QUEUE",
    1024,
    [64, 65_536],
    "Waiting scans beyond which more are refused with 429 instead of being answered too late.",
  ),
  redeemPerSecond: int(
    "REDEEM_PER_SECOND",
    0,
    [0, 100_000],
    "Scans that a process decides in a second, so that others have their share of the database; 0 is no limit. Each further list of a scan counts as a fifth of one.",
  ),
  refusedCodeDays: int(
    "REFUSED_CODE_DAYS",
    30,
    [1, 3650],
    "Days after which the codes of refused scans are deleted; the refusals stay in the history.",
  ),
} as const;
