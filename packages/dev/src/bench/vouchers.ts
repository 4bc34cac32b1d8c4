import { setTimeout as sleep } from "node:timers/promises";
import { ask, eventPath, sendRecords, timed } from "./client.ts";
import { inOneProcess } from "./platform.ts";
import { groundwork, recordOf } from "./records.ts";
import { copySameRows } from "./reference.ts";
import { atMost, figure, report, short } from "./report.ts";

/** What is promised of the slowest batch. */
const promisedSeconds = 1;

const batches = 5;

/** Longer than boxoffice needs for the facts of a batch. */
const settledMs = 3000;

/** Creates vouchers in batches that block a quota, in one process with all services. The ratio compares a batch with a COPY of as many rows. */
export function benchVouchers(size: number): Promise<void> {
  return inOneProcess(async (platform) => {
    const { baseUrl, progress } = platform;
    const quota = { id: 1, name: "Quota", size: 10_000_000, items: [1], variations: [] };
    await sendRecords(baseUrl, [...groundwork, recordOf("quota", quota)]);
    const path = `${baseUrl}${eventPath}/vouchers/batch_create/`;
    progress.update("creating batches…");
    const batch = Array.from({ length: size }, () => ({ quota: 1, block_quota: true, tag: "batch" }));
    await ask(path, batch.slice(0, 500));
    let slowest = 0;
    for (let round = 0; round < batches; round += 1) {
      // The facts of one batch have arrived before the next begins.
      await sleep(settledMs);
      slowest = Math.max(slowest, await timed(() => ask(path, batch)));
    }
    const copied = await copySameRows(platform, ["voucher.voucher"]);
    const copySeconds = (copied.seconds * size) / copied.rows;
    progress.done();
    report([
      atMost(`batch of ${size} that block a quota, the slowest of ${batches}`, slowest / 1000, promisedSeconds, "s"),
      figure("  COPY of as many rows", `${short(copySeconds)} s`),
      figure("  ratio to COPY", short(slowest / 1000 / copySeconds)),
    ]);
  });
}
