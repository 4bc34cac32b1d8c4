import { setTimeout as sleep } from "node:timers/promises";
import { services } from "@tessera/cli/services";
import { grpcTransport } from "@tessera/engines/grpc/client";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { connect } from "@tessera/kit/rpc";
import { VoucherShop } from "@tessera/protos/services";
import { ask, countPerSecond, eventPath, sample, sendRecords, timed } from "./client.ts";
import { inOneProcess, log } from "./platform.ts";
import { groundwork, recordOf } from "./records.ts";
import { copySameRows } from "./reference.ts";
import { atLeast, atMost, figure, type Row, report, short } from "./report.ts";

/** What is promised. */
const limit = { batchSeconds: 1, pageMs: 50, codesPerSecond: 10_000 } as const;

const batchSize = 10_000;
const batches = 5;

/** Longer than boxoffice needs for the facts of a batch. */
const settledMs = 3000;

/** Requests at a time for single vouchers. */
const atOnce = 32;
const seconds = 5;

/** Codes in a call of a shop, of which a few are used up. */
const codesTogether = 1000;
const fewestOffers = 0.9 * codesTogether;

/** In one process with all services, each has the next port. */
const firstGrpcPort = 18_600;
const address = `127.0.0.1:${firstGrpcPort + Object.keys(services).indexOf("voucher")}`;

/**
 * Creates vouchers in batches that block a quota, and one by one; then reads pages of an event with very many, and checks its
 * codes as shops do. The ratio compares a batch with a COPY of as many rows.
 */
export function benchVouchers(vouchers: number): Promise<void> {
  return inOneProcess(
    async (platform) => {
      const { baseUrl, progress, open } = platform;
      const quota = { id: 1, name: "Quota", size: 10_000_000, items: [1], variations: [] };
      await sendRecords(baseUrl, [...groundwork, recordOf("quota", quota)]);
      const path = `${baseUrl}${eventPath}/vouchers/`;
      progress.update("creating batches…");
      const batch = Array.from({ length: batchSize }, () => ({ quota: 1, block_quota: true, tag: "batch" }));
      await ask(`${path}batch_create/`, batch.slice(0, 500));
      let slowest = 0;
      for (let round = 0; round < batches; round += 1) {
        // The facts of one batch have arrived before the next begins.
        await sleep(settledMs);
        slowest = Math.max(slowest, await timed(() => ask(`${path}batch_create/`, batch)));
      }
      const copied = await copySameRows(platform, ["voucher.voucher"]);
      const copySeconds = (copied.seconds * batchSize) / copied.rows;
      progress.update("creating one by one…");
      const singles = await countPerSecond(() => ask(path, { tag: "single" }), { seconds, atOnce });
      progress.update("filling the event…");
      await fillEvent(open("voucher"), vouchers);
      const rows: Row[] = [
        atMost(
          `batch of ${batchSize} that block a quota, the slowest of ${batches}`,
          slowest / 1000,
          limit.batchSeconds,
          "s",
        ),
        figure("  COPY of as many rows", `${short(copySeconds)} s`),
        figure("  ratio to COPY", short(slowest / 1000 / copySeconds)),
        figure("created one by one", `${singles.toFixed(0)} a second`),
      ];
      for (const query of queriesOf(vouchers)) {
        progress.update(`reading ${query}…`);
        const { p99 } = await sample(() => ask(`${path}${query}`), { times: 40 });
        rows.push(atMost(`page of ${vouchers}, p99: ${query}`, p99, limit.pageMs, "ms"));
      }
      progress.update("checking as shops do…");
      rows.push(atLeast("checks by a shop", await checkCodes(vouchers), limit.codesPerSecond, "codes a second"));
      progress.done();
      report(rows);
    },
    { serve: ["--transport", "grpc"], environment: { GRPC_PORT: String(firstGrpcPort) } },
  );
}

function queriesOf(vouchers: number): string[] {
  const middle = Math.floor(vouchers / 100);
  return [
    ...["?", "?page=last", `?page=${middle}`, "?ordering=-value", "?ordering=valid_until&page=last"],
    ...["?tag=tag-7", "?tag=tag-7&ordering=-value", "?active=false", "?redeemed=1", "?code=FILLED-77"],
    ...["?search=FILLED-777", "?search=-7"],
  ];
}

/** Checks random codes over gRPC; returns codes a second. */
async function checkCodes(vouchers: number): Promise<number> {
  const transport = grpcTransport({ address, log });
  const shop = connect(VoucherShop, transport);
  const check = async () => {
    const asks = Array.from({ length: codesTogether }, () => ({
      code: `FILLED-${1 + Math.floor(Math.random() * vouchers)}`,
      item: 1,
    }));
    const { answers } = await shop.checkVouchers({ organizer: "bench", event: "festival", asks });
    const offers = answers.filter(({ outcome }) => outcome?.$case === "offer").length;
    if (offers < fewestOffers) throw new Error(`${codesTogether - offers} of ${codesTogether} codes were refused`);
  };
  await check();
  const perSecond = await countPerSecond(check, { seconds });
  await transport.close();
  return codesTogether * perSecond;
}

const perStatement = 50_000;

/** Copies a voucher under other ids and codes, one in a hundred with the same tag. */
async function fillEvent(db: Db, vouchers: number): Promise<void> {
  for (let first = 1; first <= vouchers; first += perStatement) {
    const last = Math.min(vouchers, first + perStatement - 1);
    await db.run(sql`
      insert into voucher (organizer, event, id, revision, code, max_usages, min_usages, block_quota, allow_ignore_quota,
                           price_mode, value, quota, tag, comment, show_hidden_items, all_addons_included,
                           all_bundles_included, created_at, redeemed, budget_used, base_redeemed, base_budget_used)
      select seed.organizer, seed.event, 900000000 + made.id, 1, 'FILLED-' || made.id, case when made.id % 200 = 0 then 4 else 1 end,
             1, false, made.id % 300 = 0, case when made.id % 400 = 0 then 'percent' else 'set' end, made.id % 500, null,
             'tag-' || made.id % 100, '', true, false, false, now(), case when made.id % 250 = 0 then 1 else 0 end, 0, 0, 0
        from (select voucher.organizer, voucher.event from voucher limit 1) as seed
       cross join generate_series(${first}::bigint, ${last}::bigint) as made (id)`);
  }
  await db.run(sql`vacuum analyze voucher`);
}
