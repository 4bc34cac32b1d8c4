import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { columns } from "@tessera/cli/columns";
import { showProgress } from "@tessera/cli/progress";
import { startEmbeddedPostgres } from "@tessera/embedded-postgres/start";
import { createLog } from "@tessera/kit/log";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import getPort from "get-port";
import { type ServingProcess, startServing } from "../serving-process.ts";

const operatorKey = "bench-operator-key-0123456789abcdef";
const apiKey = "bench-api-key-0123456789abcdef";
const vouchersPath = "/api/v1/organizers/bench/events/festival/vouchers/";

/** What is promised. */
const limit = { batchSeconds: 1, createsPerSecond: 1500, pageMs: 50 } as const;

const batchSize = 10_000;

/** Requests at a time for single vouchers. */
const atOnce = 32;

const singleSeconds = 5;

/** A filter that leaves one in a hundred. */
const tags = 100;

/**
 * Creates vouchers in batches that block a quota, and one by one; then reads pages of an event with very many. Ratios
 * compare with a plain `insert … select` of as many rows, and with a read of fifty rows by their keys.
 */
export async function benchVouchers({ vouchers }: { vouchers: number }): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "tessera-bench-"));
  const progress = showProgress();
  const postgres = await startEmbeddedPostgres({ directory });
  const port = await getPort({ host: "127.0.0.1" });
  const baseUrl = `http://127.0.0.1:${port}`;
  let platform: ServingProcess | undefined;
  let db: Db | undefined;
  try {
    platform = await startServing(
      ["all", "--port", String(port), "--data", join(directory, "platform"), "--database-url", postgres.url],
      { url: `${baseUrl}/api/v1/openapi.json`, environment: { TESSERA_OPERATOR_KEY: operatorKey } },
    );
    progress.update("importing…");
    await importRecords(baseUrl);
    const log = createLog({ service: "bench", destination: { write: () => {} } });
    const [schema, role] = ["voucher", roleOf("voucher")];
    db = openDatabase({ url: postgres.url, schema, role, applicationName: "bench", statementTimeoutMs: 600_000, log });
    const send = (path: string, body?: unknown) => ask(`${baseUrl}${vouchersPath}${path}`, body);

    progress.update("creating batches…");
    const blocking = Array.from({ length: batchSize }, () => ({ quota: 1, block_quota: true, tag: "batch" }));
    await timed(() => send("batch_create/", blocking.slice(0, 500)));
    const batches = [];
    for (let round = 0; round < 5; round += 1) batches.push(await timed(() => send("batch_create/", blocking)));
    const plain = await insertPlainly(db);

    progress.update("creating one by one…");
    const singles = await createSingly(() => send("", { tag: "single" }));

    progress.update("filling the event…");
    await fillEvent(db, vouchers);
    const bare = await sample(200, () => readBare(db as Db));
    const questions = {
      "first page": "",
      "last page": "?page=last",
      "tag= (one in a hundred)": "?tag=tag-7",
      "tag=, ordered by value": "?tag=tag-7&ordering=-value",
      "quota=": "?quota=2",
      "code=": "?code=FILLED-77",
      "active=true, a tag": "?active=true&tag=tag-8",
      "search= of a code": "?search=FILLED-777",
    };
    const pages: (readonly [string, Sampled])[] = [];
    for (const [name, query] of Object.entries(questions)) {
      progress.update(`reading: ${name}…`);
      pages.push([name, await sample(60, () => send(query))]);
    }
    progress.done();
    const batch = Math.min(...batches);
    const rows = [
      [
        "batch of 10 000 that block a quota",
        `${(batch / 1000).toFixed(2)} s at best, ${(Math.max(...batches) / 1000).toFixed(2)} s at worst (limit ${limit.batchSeconds} s)`,
      ],
      ["plain insert of as many rows", `${(plain / 1000).toFixed(2)} s`],
      ["ratio to that", (batch / plain).toFixed(1)],
      ["created one by one", `${singles.toFixed(0)} a second (limit ${limit.createsPerSecond})`],
      [`pages of ${vouchers} vouchers`, "p50, p99, ratio to a bare read of fifty by their keys"],
      ...pages.map(([name, { p50, p99 }]) => [
        `  ${name}`,
        `${p50.toFixed(0)}, ${p99.toFixed(0)} ms, ${(p50 / bare.p50).toFixed(0)}`,
      ]),
    ];
    process.stdout.write(`${columns(rows)}\n`);
    const isSlow = pages.some(([name, { p99 }]) => name.startsWith("tag=") && p99 > limit.pageMs);
    if (batch > 1000 * limit.batchSeconds || singles < limit.createsPerSecond || isSlow) process.exitCode = 1;
  } finally {
    progress.done();
    await db?.close();
    await platform?.stop();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
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

async function importRecords(baseUrl: string): Promise<void> {
  const line = (kind: string, data: object, place: object = { event: "festival" }) =>
    JSON.stringify({ kind, organizer: "bench", ...place, data });
  const records = [
    line("organizer", { slug: "bench", name: "Bench" }, {}),
    line("api_key", { token: apiKey, name: "bench", permissions: ["*"], all_events: true }, {}),
    line("event", { slug: "festival", name: { en: "Festival" }, date_from: "2027-07-01T10:00:00Z" }),
    line("item", { id: 1, name: { en: "Ticket" } }),
    ...[1, 2].map((id) => line("quota", { id, name: `Quota ${id}`, size: 10_000_000, items: [1], variations: [] })),
  ];
  const response = await fetch(`${baseUrl}/api/v1/import/`, {
    method: "POST",
    headers: { authorization: `Token ${operatorKey}`, "content-type": "application/x-ndjson" },
    body: records.join("\n"),
  });
  const answer = (await response.json()) as { rejected?: number; settled?: boolean };
  if (answer.rejected !== 0 || answer.settled !== true)
    throw new Error(`the import answered ${JSON.stringify(answer)}`);
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
    select seed.organizer, seed.event, made.id, 1, ${prefix} || made.id, 1, 1, false, false, 'set', made.id % 500,
           case when made.id % 100 = 3 then 2 end, 'tag-' || made.id % ${tags}, '', true, false, false, now(), 0, 0, 0, 0
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
  await db.run(sql`analyze voucher`);
}

async function readBare(db: Db): Promise<void> {
  await db.many(sql`
    select voucher.id, voucher.code
      from voucher
     where voucher.organizer = 'bench'
       and voucher.event = 'festival'
       and voucher.id = any(array(select generate_series(1000, 50000, 1000)::bigint))`);
}
