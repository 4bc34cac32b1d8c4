import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Progress } from "@tessera/cli/progress";
import type { Bus } from "@tessera/kit/bus/bus";
import { header } from "@tessera/kit/bus/headers";
import { countAcceptedFacts } from "@tessera/kit/bus/operators";
import type { Log } from "@tessera/kit/log";
import { toByteaArray } from "@tessera/kit/pg/binary-array";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { identifier, joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { positionFactOf } from "./facts-material.ts";

/** As the relay does. */
const publishedAtOnce = 500;

/** Publishes position facts as a relay does; returns how many bytes they have. */
export async function fillBacklog(
  bus: Bus,
  { facts, progress }: { facts: number; progress: Progress },
): Promise<number> {
  const { name, key, encode } = topics.positionChanged;
  let bytes = 0;
  for (let first = 1; first <= facts; first += publishedAtOnce) {
    const count = Math.min(publishedAtOnce, facts - first + 1);
    const messages = Array.from({ length: count }, (_, index) => {
      const fact = positionFactOf(first + index);
      const headers = { [header.factId]: randomUUID(), [header.at]: String(Date.now() * 1000) };
      return { key: key(fact), value: encode(fact), headers };
    });
    bytes += messages.reduce((sum, { value }) => sum + value.length, 0);
    await bus.publish(name, messages);
    progress.update(`filling the backlog… ${first + count - 1} of ${facts}`);
  }
  return bytes;
}

/** How the backlog was drained. */
export interface Drain {
  readonly perSecond: number;
  /** From before the process was started until the last effect. */
  readonly seconds: number;
  /** Facts in a transaction, and transactions at a time. */
  readonly batch: number;
  readonly connections: number;
}

const lookEveryMs = 200;
const longestSilenceMs = 60_000;

/**
 * Waits until checkin has drained the backlog. The rate counts from the first visible effect to the last, without the
 * start of the process.
 */
export async function watchDrain(
  checkin: Db,
  { facts, started, progress }: { facts: number; started: number; progress: Progress },
): Promise<Drain> {
  const connections: number[] = [];
  let first: { readonly at: number; readonly done: number } | undefined;
  let last = { at: performance.now(), done: 0 };
  while (last.done < facts) {
    await sleep(lookEveryMs);
    const { done, busy } = await look(checkin);
    const at = performance.now();
    if (done > last.done) last = { at, done };
    if (at - last.at > longestSilenceMs)
      throw new Error(`the drain made no progress after ${last.done} of ${facts} facts`);
    if (done === 0) continue;
    first ??= { at, done };
    if (done < facts) connections.push(busy);
    progress.update(`draining… ${done} of ${facts}`);
  }
  const recorded = await countAcceptedFacts(checkin);
  const { held, transactions } = await checkin.one<{ held: number; transactions: number }>(
    sql`select (select count(*) from position) as held,
               (select count(distinct position.xmin::text) from position) as transactions`,
  );
  if (held !== facts || recorded !== facts)
    throw new Error(`of ${facts} facts, ${held} had their effect and ${recorded} are in the inbox`);
  const [from, inOrder] = [first ?? last, connections.sort((a, b) => a - b)];
  return {
    perSecond: (facts - from.done) / ((last.at - from.at) / 1000),
    seconds: (last.at - started) / 1000,
    batch: Math.round(facts / transactions),
    connections: Math.max(1, inOrder[Math.floor(inOrder.length / 2)] ?? 1),
  };
}

/** The counts are sums over a few rows, so reading them is cheap; they are written with the effects. */
async function look(checkin: Db): Promise<{ done: number; busy: number }> {
  return checkin.one<{ done: number; busy: number }>(sql`
    select (select coalesce(sum(count_delta.positions), 0)::bigint from count_delta where count_delta.list = 0) as done,
           (select count(*)
              from pg_stat_activity
             where pg_stat_activity.application_name = 'tessera-checkin'
               and pg_stat_activity.state in ('active', 'idle in transaction')) as busy`);
}

/** The columns of a position, and the types of their parameters. */
const columns: readonly (readonly [name: string, type: Sql])[] = [
  ...["organizer", "event"].map((name) => [name, sql`text[]`] as const),
  ...["id", "revision", "positionid"].map((name) => [name, sql`bigint[]`] as const),
  ["order_code", sql`text[]`],
  ...["item", "variation", "subevent", "addon_to"].map((name) => [name, sql`bigint[]`] as const),
  ...["secret", "order_status"].map((name) => [name, sql`text[]`] as const),
  ...["valid_if_pending", "require_approval", "canceled", "blocked"].map((name) => [name, sql`boolean[]`] as const),
  ...["valid_from_at", "valid_until_at"].map((name) => [name, sql`timestamptz[]`] as const),
  ...["counted_as", "attendee_name", "order_email"].map((name) => [name, sql`text[]`] as const),
  ["order_placed_at", sql`timestamptz[]`],
  ["search_text", sql`text[]`],
  ["voucher", sql`bigint[]`],
  ["pseudonymization_id", sql`text[]`],
];

type Row = Readonly<Record<string, string | null>> & { readonly state: Uint8Array };

/**
 * Writes the rows of the drain again, in the order of writing, into a table with the same columns and indexes. It uses
 * plain multi-row upserts of the drain's batch size, as many at a time. The time for reading the rows does not count.
 */
export async function writeBare(options: {
  url: string;
  facts: number;
  batch: number;
  connections: number;
  log: Log;
  progress: Progress;
}): Promise<{ perSecond: number }> {
  const { url, facts, batch, connections, log, progress } = options;
  const admin = openDatabase({ url, schema: "public", applicationName: "bench", log });
  const bare = openDatabase({
    url,
    schema: "bench_bare",
    applicationName: "bench-bare",
    log,
    maxConnections: connections,
  });
  const reading = await admin.dedicated();
  try {
    await admin.run(sql`create schema bench_bare`);
    await admin.run(sql`create table bench_bare.position (like checkin.position including all) with (fillfactor = 90)`);
    await admin.run(sql`checkpoint`);
    await reading.run(sql`begin`);
    const read = joinSql(
      columns.map(([name]) => sql`position.${identifier(name)}::text`),
      ", ",
    );
    await reading.run(sql`declare written no scroll cursor for select ${read}, position.state from checkin.position`);
    let milliseconds = 0;
    for (let written = 0; ; ) {
      const rows = await reading.many<Row>(sql`fetch 20000 from written`);
      if (rows.length === 0) break;
      const started = performance.now();
      await upsertAll(bare, { rows, batch, connections });
      milliseconds += performance.now() - started;
      written += rows.length;
      progress.update(`writing the same rows by bare upserts… ${written} of ${facts}`);
    }
    return { perSecond: facts / (milliseconds / 1000) };
  } finally {
    await reading.release();
    await Promise.all([bare.close(), admin.close()]);
  }
}

async function upsertAll(
  bare: Db,
  { rows, batch, connections }: { rows: readonly Row[]; batch: number; connections: number },
): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < rows.length) {
      const first = next;
      next += batch;
      await upsert(bare, rows.slice(first, next));
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
}

async function upsert(bare: Db, rows: readonly Row[]): Promise<void> {
  const names = joinSql([...columns.map(([name]) => identifier(name)), sql`state`], ", ");
  const values = joinSql(
    [
      ...columns.map(([name, type]) => sql`${rows.map((row) => row[name] ?? null)}::${type}`),
      sql`${toByteaArray(rows.map(({ state }) => state))}::bytea[]`,
    ],
    ", ",
  );
  const changes = joinSql(
    [...columns.map(([name]) => identifier(name)), sql`state`].map((name) => sql`${name} = excluded.${name}`),
    ", ",
  );
  await bare.run(sql`
    insert into position (${names})
    select ${names} from unnest(${values}) as sent (${names})
        on conflict (organizer, event, id) do update set ${changes}`);
}
