import { setTimeout as sleep } from "node:timers/promises";
import { columns } from "@tessera/cli/columns";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { apiKey, groundwork, onEmptyPlatform, recordOf } from "./on-empty-platform.ts";
import { measureChecks } from "./voucher-checks.ts";

const vouchersPath = "/api/v1/organizers/bench/events/festival/vouchers/";

/** What is promised. */
const limit = { batchSeconds: 1, createsPerSecond: 1500, pageMs: 50 } as const;

const batchSize = 10_000;

/** Requests at a time for single vouchers. */
const atOnce = 32;

const singleSeconds = 5;

/** Longer than boxoffice needs for the facts of a batch. */
const settledMs = 3000;

/** A filter that leaves one in a hundred. */
const tags = 100;

/**
 * Creates vouchers in batches that block a quota, and one by one; then reads pages of an event with very many, and checks
 * its codes as shops do. Ratios compare with a plain `insert … select` of as many rows, with a read of fifty rows by their
 * keys, and with lookups of codes by their index.
 */
export function benchVouchers({ vouchers }: { vouchers: number }): Promise<void> {
  return onEmptyPlatform(async ({ baseUrl, directory, postgres, serving, progress, open, send: sendRecords }) => {
    progress.update("importing…");
    await sendRecords([
      ...groundwork,
      ...[1, 2].map((id) =>
        recordOf("quota", { id, name: `Quota ${id}`, size: 10_000_000, items: [1], variations: [] }),
      ),
    ]);
    const db = open("voucher");
    const send = (path: string, body?: unknown) => ask(`${baseUrl}${vouchersPath}${path}`, body);

    progress.update("creating batches…");
    const blocking = Array.from({ length: batchSize }, () => ({ quota: 1, block_quota: true, tag: "batch" }));
    await timed(() => send("batch_create/", blocking.slice(0, 500)));
    const [batches, pressed]: [number[], number[]] = [[], []];
    for (let round = 0; round < 5; round += 1) {
      // The facts of one batch have arrived before the next begins.
      await sleep(settledMs);
      batches.push(await timed(() => send("batch_create/", blocking)));
    }
    for (let round = 0; round < 5; round += 1) pressed.push(await timed(() => send("batch_create/", blocking)));
    const plain = await insertPlainly(db);

    progress.update("creating one by one…");
    const singles = await createSingly(() => send("", { tag: "single" }));

    progress.update("filling the event…");
    await fillEvent(db, vouchers);
    const bare = await sample(200, () => readBare(db));
    const orders = ["code", "max_usages", "valid_until", "value"].flatMap((name) => [name, `-${name}`]);
    const questions = {
      "first page": "",
      "last page": "?page=last",
      ...Object.fromEntries(orders.map((name) => [`first page, ordered by ${name}`, `?ordering=${name}`])),
      ...Object.fromEntries(orders.map((name) => [`last page, ordered by ${name}`, `?ordering=${name}&page=last`])),
      "a page in the middle": `?page=${Math.floor(vouchers / 100)}`,
      "a page in the middle, ordered by value": `?ordering=value&page=${Math.floor(vouchers / 100)}`,
      "active=true": "?active=true",
      "search= of every code": "?search=filled",
    };
    /** Each leaves ten thousand, or hardly more. */
    const selective = {
      "tag= (one in a hundred)": "?tag=tag-7",
      "tag=, ordered by value": "?tag=tag-7&ordering=-value",
      "tag=, a page in the middle": "?tag=tag-7&page=100",
      "quota=": "?quota=2",
      "code=": "?code=FILLED-77",
      "active=true, a tag": "?active=true&tag=tag-8",
      "active=false": "?active=false",
      "block_quota=true, a quota": "?block_quota=true&quota=2",
      "allow_ignore_quota=true": "?allow_ignore_quota=true",
      "price_mode=percent": "?price_mode=percent",
      "max_usages=": "?max_usages=4",
      "redeemed=": "?redeemed=1",
      "value=": "?value=77",
      "search= of a code": "?search=FILLED-777",
      "search= of two letters": "?search=-7",
    };
    const pages: (readonly [string, Sampled])[] = [];
    for (const [name, query] of Object.entries({ ...questions, ...selective })) {
      progress.update(`reading: ${name}…`);
      pages.push([name, await sample(40, () => send(query))]);
    }
    await serving.stop();
    progress.update("checking as shops do…");
    const checks = await measureChecks(db, { databaseUrl: postgres.url, directory, vouchers });
    progress.done();
    const batch = Math.min(...batches);
    const rows = [
      [
        "batch of 10 000 that block a quota",
        `${(batch / 1000).toFixed(2)} s at best, ${(Math.max(...batches) / 1000).toFixed(2)} s at worst (limit ${limit.batchSeconds} s)`,
      ],
      [
        "batches without a pause between them",
        `${(Math.min(...pressed) / 1000).toFixed(2)} s at best, ${(Math.max(...pressed) / 1000).toFixed(2)} s at worst`,
      ],
      ["plain insert of as many rows", `${(plain / 1000).toFixed(2)} s`],
      ["ratio to that", (batch / plain).toFixed(1)],
      ["created one by one", `${singles.toFixed(0)} a second (limit ${limit.createsPerSecond})`],
      [`pages of ${vouchers} vouchers`, "p50, p99, ratio to a bare read of fifty by their keys"],
      ...pages.map(([name, { p50, p99 }]) => [
        `  ${name}`,
        `${p50.toFixed(0)}, ${p99.toFixed(0)} ms, ${(p50 / bare.p50).toFixed(0)}`,
      ]),
      ...checks.rows,
    ];
    process.stdout.write(`${columns(rows)}\n`);
    const isSlow = pages.some(([name, { p99 }]) => Object.hasOwn(selective, name) && p99 > limit.pageMs);
    if (Math.max(...batches) > 1000 * limit.batchSeconds || singles < limit.createsPerSecond || isSlow || checks.isSlow)
      process.exitCode = 1;
  });
}

async function ask(url: string, body?: unknown): Promise<void> {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Token ${apiKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status} ${text.slice(0, 300)}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

interface Sampled {
  readonly p50: number;
  readonly p99: number;
}

async function sample(times: number, work: () => Promise<unknown>): Promise<Sampled> {
  await work();
  const taken: number[] = [];
  for (let round = 0; round < times; round += 1) taken.push(await timed(work));
  taken.sort((one, other) => one - other);
  const at = (share: number) => taken[Math.min(taken.length - 1, Math.floor(share * taken.length))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

async function createSingly(create: () => Promise<unknown>): Promise<number> {
  const until = performance.now() + 1000 * singleSeconds;
  let created = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (; performance.now() < until; created += 1) await create();
    }),
  );
  return created / singleSeconds;
}

/** Copies a batch of vouchers under other ids and codes. */
async function copyVouchers(
  db: Db,
  { first, count, prefix }: { first: number; count: number; prefix: string },
): Promise<void> {
  await db.run(sql`
    insert into voucher (organizer, event, id, revision, code, max_usages, min_usages, block_quota, allow_ignore_quota,
                         price_mode, value, quota, tag, comment, show_hidden_items, all_addons_included,
                         all_bundles_included, created_at, redeemed, budget_used, base_redeemed, base_budget_used)
    select seed.organizer, seed.event, made.id, 1, ${prefix} || made.id, case when made.id % 200 = 0 then 4 else 1 end, 1,
           false, made.id % 300 = 0, case when made.id % 400 = 0 then 'percent' else 'set' end, made.id % 500,
           case when made.id % 100 = 3 then 2 end, 'tag-' || made.id % ${tags}, '', true, false, false, now(),
           case when made.id % 250 = 0 then 1 else 0 end, 0, 0, 0
      from (select voucher.organizer, voucher.event from voucher limit 1) as seed
     cross join generate_series(${first}::bigint, ${first + count - 1}::bigint) as made (id)`);
}

/** The time of a plain insert of as many rows as a batch has. */
async function insertPlainly(db: Db): Promise<number> {
  return timed(() => copyVouchers(db, { first: 900_000_000, count: batchSize, prefix: "PLAIN-" }));
}

const perStatement = 50_000;

async function fillEvent(db: Db, vouchers: number): Promise<void> {
  for (let first = 1; first <= vouchers; first += perStatement)
    await copyVouchers(db, { first, count: Math.min(perStatement, vouchers - first + 1), prefix: "FILLED-" });
  await db.run(sql`vacuum analyze voucher`);
}

async function readBare(db: Db): Promise<void> {
  await db.many(sql`
    select voucher.id, voucher.code
      from voucher
     where voucher.organizer = 'bench'
       and voucher.event = 'festival'
       and voucher.id = any(array(select generate_series(1000, 50000, 1000)::bigint))`);
}
