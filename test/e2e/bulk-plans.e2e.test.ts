import { loadServices } from "@tessera/cli/services";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { identifier, joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { afterAll, beforeAll, expect, it } from "vitest";
import { explainStatements, followExplained } from "./explain-statements.ts";
import {
  apiKey,
  eventData,
  eventPath,
  groundwork,
  itemData,
  listData,
  ofEvent,
  orderData,
  positionData,
} from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";
import { untilEnded } from "./until-ended.ts";

const as = `Token ${apiKey}`;
/** The orders of an event, and as many tickets of a batch. Other events have so many times as many orders as a copied one. */
const many = 300;
const copied = { orders: 50, times: 60 };

type Statistics = "of one event alone" | "none";

/**
 * Of one kind a statement handles no more rows in all its runs of a step. Where one event seemed to be all there is, what reads
 * an event may read the table a few times: never for each row, nor for each batch.
 */
const mostRows: Readonly<Record<Statistics, number>> = {
  "of one event alone": 8 * many + 3 * copied.orders * copied.times,
  none: 8 * many,
};

/**
 * What waits is read in batches of a fixed size; catalogues do not grow with events. Holds are of requests under way: with
 * statistics of so few PostgreSQL may read their few pages whole for each of them.
 */
const leftOut: Readonly<Record<Statistics, RegExp>> = {
  "of one event alone": /^(?:outbox|held_claim|pg_)/,
  none: /^(?:outbox|pg_)/,
};

/** What waits is asked for again and again: the more often, the busier the machine is. */
const isAskedAgain = (text: string) => /\bfrom (?:outbox|passed_marker|pg_locks)\b/.test(text);

const quiet = createLog({ service: "test", destination: { write: () => {} } });

let platform: TestPlatform;
let db: Db;
let log: Awaited<ReturnType<typeof followExplained>>;

const open = (url: string) => openDatabase({ url, schema: "public", applicationName: "test-plans", log: quiet });

// One platform has both states, one after the other: its start and the copies take longer than what they are for.
beforeAll(async () => {
  platform = await startTestPlatform({
    async prepare(url) {
      const prepared = open(url);
      await explainStatements(prepared);
      await prepared.close();
    },
  });
  db = open(platform.databaseUrl);
  log = await followExplained(db);
  await take([...groundwork(), ...eventOf("small", copied.orders)]);
  await db.run(sql`analyze`);
  const analyzable = await keepFromAnalyzing();
  await copyEvent("small");
  await analyzable();
});
afterAll(async () => {
  await log?.close();
  await db?.close();
  await platform?.stop();
});

async function take(records: unknown[]): Promise<void> {
  expect(await platform.import(records)).toMatchObject({ rejected: 0, settled: true });
}

function eventOf(name: string, count: number): unknown[] {
  const over = { live: false, date_from: "2020-01-01T10:00:00Z", date_to: "2020-01-02T10:00:00Z" };
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  const diet = { type: "S", identifier: "DIET", items: [1], ask_during_checkin: true, required: false };
  const position = (id: number) =>
    positionData({
      ...{ id, secret: `secret-${name}-${id}`, pseudonymization_id: `P${id}`, voucher: id },
      answers: [{ question: 1, answer: "vegan", question_identifier: "DIET" }],
    });
  return [
    ofEvent("event", eventData({ ...over, slug: name }), name),
    ofEvent("item", itemData({ category: null }), name),
    ofEvent("question", { id: 1, question: { en: "Diet?" }, ...diet }, name),
    ofEvent("quota", { id: 1, name: "All", size: null, items: [1], variations: [], subevent: null }, name),
    ofEvent("checkin_list", listData(), name),
    ofEvent("ticket_layout", { id: 1, name: "Plain", default: true, layout: [element] }, name),
    ...ids.map((id) => ofEvent("voucher", { id, code: `CODE${id}`, max_usages: 1, redeemed: 0, item: 1 }, name)),
    ...ids.map((id) => {
      const order = { code: `O${id}`, datetime: "2019-12-01T10:00:00Z", positions: [position(id)] };
      return ofEvent("order", orderData(order), name);
    }),
  ];
}

const element = {
  ...{ type: "textarea", left: "20.00", bottom: "200.00", fontsize: "20.0", width: "150.00", align: "left" },
  ...{ content: "order", fontfamily: "Open Sans", color: [0, 0, 0, 1], bold: false, italic: false },
};

/** The tables of all services, but for partitioned ones. */
async function findTables(): Promise<{ table: Sql; schema: string; name: string; columns: string[] }[]> {
  const schemas = (await loadServices(["all"])).map(({ schema }) => schema);
  const rows = await db.many<{ schema: string; name: string; columns: string[] }>(sql`
    select columns.table_schema as schema, columns.table_name as name, array_agg(columns.column_name::text) as columns
      from information_schema.columns
     where columns.table_schema = any(${schemas}::text[])
       and columns.table_name not like 'inbox%'
       and columns.is_generated = 'NEVER'
     group by columns.table_schema, columns.table_name`);
  return rows.map((row) => ({ ...row, table: sql`${identifier(row.schema)}.${identifier(row.name)}` }));
}

/** Gives the rows of an event to the same event of many other organizers. */
async function copyEvent(event: string): Promise<void> {
  const tables = await findTables();
  await db.transaction(async (tx) => {
    // References stand in tables that are copied later.
    await tx.run(sql`set local session_replication_role = replica`);
    for (const { table, columns } of tables) {
      if (!columns.includes("organizer") || !columns.includes("event")) continue;
      const values = columns.map((column) =>
        column === "organizer" ? sql`concat('other', copy.n)` : identifier(column),
      );
      await tx.run(sql`
        insert into ${table} (${joinSql(columns.map(identifier), ", ")}) overriding system value
        select ${joinSql(values, ", ")}
          from ${table}, generate_series(1, ${copied.times}::integer) as copy (n)
         where event = ${event}
            on conflict do nothing`);
    }
  });
}

/** Keeps every table from being analyzed, as a busy server does for a while. Returns what ends that. */
async function keepFromAnalyzing(): Promise<() => Promise<void>> {
  const tables = await findTables();
  const locked = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const holding = db.transaction(async (tx) => {
    await tx.run(sql`set local idle_in_transaction_session_timeout = 0`);
    for (const { table } of tables) await tx.run(sql`lock table ${table} in share update exclusive mode`);
    locked.resolve();
    await end.promise;
  });
  await Promise.race([locked.promise, holding]);
  return () => {
    end.resolve();
    return holding;
  };
}

/** Makes every table one that was never analyzed, and keeps it so. Returns what ends that. */
async function keepWithoutStatistics(): Promise<() => Promise<void>> {
  for (;;) {
    await forgetStatistics();
    const analyzable = await keepFromAnalyzing();
    // The server may have analyzed a table before it was locked.
    if (!(await isAnyAnalyzed())) return analyzable;
    await analyzable();
  }
}

async function isAnyAnalyzed(): Promise<boolean> {
  const tables = await findTables();
  const found = await db.many(sql`
    select from pg_class
      join pg_namespace on pg_namespace.oid = pg_class.relnamespace
     where (pg_namespace.nspname, pg_class.relname)
           in (select wanted.schema, wanted.name
                 from unnest(${tables.map(({ schema }) => schema)}::text[], ${tables.map(({ name }) => name)}::text[])
                      as wanted (schema, name))
       and pg_class.reltuples >= 0`);
  return found.length > 0;
}

/** Makes every table, and its indexes, one that was never analyzed. */
async function forgetStatistics(): Promise<void> {
  const schemas = [...new Set((await findTables()).map(({ schema }) => schema))];
  await db.run(sql`
    select pg_clear_attribute_stats(pg_stats.schemaname, pg_stats.tablename, pg_stats.attname, pg_stats.inherited)
      from pg_stats
     where pg_stats.schemaname = any(${schemas}::text[])`);
  await db.run(sql`
    select pg_clear_relation_stats(pg_namespace.nspname, pg_class.relname)
      from pg_class
      join pg_namespace on pg_namespace.oid = pg_class.relnamespace
     where pg_namespace.nspname = any(${schemas}::text[])
       and pg_class.relkind in ('r', 'i')`);
}

it.each<Statistics>(["of one event alone", "none"])(
  "what changes or reads a whole event handles its rows a few times, and not once for each other, with statistics: %s",
  async (statistics) => {
    const analyzable = await (statistics === "none" ? keepWithoutStatistics() : keepFromAnalyzing());
    try {
      expect(await changeWholeEvent(statistics)).toEqual([]);
    } finally {
      await analyzable();
    }
  },
);

/** Does all that changes or reads a whole event, and returns the statements that have handled too many rows. */
async function changeWholeEvent(statistics: Statistics): Promise<object[]> {
  const event = statistics.replaceAll(" ", "-");
  const path = eventPath.replace("sampleconf", event);
  const [most, unexamined] = [mostRows[statistics], leftOut[statistics]];
  const send = (method: string, to: string, body?: unknown) =>
    platform.request(method, to, { as, ...(body === undefined ? {} : { body }) });
  const ended = (address: string) => untilEnded(address, (to) => send("GET", to));
  const ask = async (to: string, body: unknown, status: number) => {
    const answer = await send("POST", to, body);
    expect([answer.status, answer.body]).toEqual([status, expect.anything()]);
    return answer.body;
  };
  const wide: object[] = [];
  /** Does something, and examines the plans of all its statements. */
  const step = async <T>(name: string, act: () => Promise<T>): Promise<T> => {
    const result = await act();
    for (const { text, rows } of await log.next()) {
      const found = [...rows].filter(([from, count]) => count > most && !unexamined.test(from));
      if (found.length > 0 && !isAskedAgain(text)) wide.push({ step: name, rows: Object.fromEntries(found), text });
    }
    return result;
  };
  await log.next();

  await step("import", () => take(eventOf(event, many)));
  const codes = Array.from({ length: many }, (_, index) => ({ code: `BATCH${index}`, item: 1, block_quota: true }));
  await step("vouchers", () => ask(`${path}/vouchers/batch_create/`, codes, 201));

  const batches = `${path}/offlinesalesbatches/`;
  const batch = await step("offline batch", async () => {
    const { check } = await ask(batches, { layout: 1, item: 1, sales_channel: "web", amount: many }, 202);
    return (await ended(check)).body;
  });
  await step("rendering", async () => {
    const { download } = await ask(`${batches}${batch.id}/render/`, {}, 202);
    expect((await ended(download)).status).toBe(200);
  });
  await step("cancelation", () => ask(`${batches}${batch.id}/cancel/`, {}, 200));

  const shredders = ["attendee_info", "order_emails", "question_answers", "waiting_list"];
  const exported = await step("export", async () => {
    const begun = await ask(`${path}/shredders/export/`, { shredders }, 202);
    expect((await ended(begun.download)).status).toBe(200);
    return begun;
  });
  await step("erasure", async () => {
    const { status } = await ask(new URL(exported.shred).pathname, undefined, 202);
    expect((await ended(status)).status).toBe(200);
  });

  const removals = Array.from({ length: many }, (_, index) => ({
    ...ofEvent("order", { code: `O${index + 1}` }, event),
    deleted: true,
  }));
  await step("removal of orders", () => take(removals));
  const vouchers = Array.from({ length: many }, (_, index) => ofEvent("voucher", { id: index + 1 }, event));
  await step("removal of vouchers", () => take(vouchers.map((voucher) => ({ ...(voucher as object), deleted: true }))));
  await step("removal of the event", () => take([{ ...ofEvent("event", { slug: event }, event), deleted: true }]));
  return wide;
}
