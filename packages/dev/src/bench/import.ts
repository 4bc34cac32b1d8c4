import { poll } from "@tessera/kit/waiting/poll";
import { ask, eventPath, sendRecords } from "./client.ts";
import { inOneProcess } from "./platform.ts";
import { groundwork, orderOf, recordOf, secretOf } from "./records.ts";
import { copySameRows } from "./reference.ts";
import { atMost, figure, report, short } from "./report.ts";
import { usageOf, usageOfPostgres } from "./usage.ts";

/** What is promised. */
const limit = { seconds: 60, megabytes: 512 } as const;

const longestCountMs = 120_000;

/** The tables that hold the orders in the end. */
const filled = ['boxoffice."order"', "boxoffice.position", "checkin.position"];

/**
 * Imports one-position orders over REST into an empty platform. The clock stops when the list counts them all and the last
 * ticket is redeemed.
 */
export function benchImport(orders: number): Promise<void> {
  return inOneProcess(async (platform) => {
    const { baseUrl, postgres, progress, processes } = platform;
    let postgresPeak = 0;
    const look = async () => {
      postgresPeak = Math.max(postgresPeak, (await usageOfPostgres(postgres.dataDirectory)).peakMegabytes);
    };
    const watch = setInterval(() => void look(), 500);
    const list = `${baseUrl}${eventPath}/checkinlists/1/`;
    const lines = function* () {
      yield* groundwork;
      yield recordOf("checkin_list", { id: 1, name: "All", all_products: true, limit_products: [] });
      for (let order = 1; order <= orders; order += 1) {
        if (order % 1000 === 0) progress.update(`importing… ${order} of ${orders}`);
        yield orderOf(order);
      }
    };
    const started = performance.now();
    try {
      await sendRecords(baseUrl, lines());
      const isCounted = async () => (await ask<{ position_count: number }>(`${list}status/`)).position_count === orders;
      if (!(await poll(isCounted, { until: Date.now() + longestCountMs })))
        throw new Error("the list did not count every order within two minutes");
      await ask(`${list}positions/${secretOf(orders)}/redeem/`, {});
    } finally {
      clearInterval(watch);
    }
    const seconds = (performance.now() - started) / 1000;
    const memory = await Promise.all(processes().map(({ pid }) => usageOf(pid)));
    progress.update("copying the same rows…");
    const copy = await copySameRows(platform, filled);
    progress.done();
    report([
      atMost(`${orders} orders imported, counted, and the last ticket redeemed`, seconds, limit.seconds, "s"),
      figure("  orders a second", (orders / seconds).toFixed(0)),
      figure(`  COPY of the same ${copy.rows} rows`, `${short(copy.seconds)} s`),
      figure("  ratio to COPY", short(seconds / copy.seconds)),
      atMost("  peak memory of the process", memory[0]?.peakMegabytes ?? 0, limit.megabytes, "MiB"),
      atMost("  of the largest process of PostgreSQL, with shared buffers", postgresPeak, limit.megabytes, "MiB"),
    ]);
  });
}
