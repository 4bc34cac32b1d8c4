import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createLog } from "@tessera/kit/log";
import { openDatabase } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { fault } from "../faults.ts";

const run = promisify(execFile);

/** The frozen statement of one scan. */
const statement = fileURLToPath(new URL("../../bench/reference.sql", import.meta.url));

const connections = [8, 16, 32];

/** Prepares the tables of the reference: a million tickets, and what one scan stores. */
export async function prepareReference(url: string): Promise<void> {
  const log = createLog({ service: "bench", level: "warn", destination: process.stderr });
  const db = openDatabase({ url, schema: "reference", applicationName: "bench", statementTimeoutMs: 600_000, log });
  try {
    for (const statement of tables) await db.run(statement);
  } finally {
    await db.close();
  }
}

const tables = [
  sql`create schema reference`,
  sql`create table ticket (event bigint, id bigint, secret text, item bigint, name text, primary key (event, id))`,
  sql`create table checkin (event bigint, list bigint, ticket bigint, at timestamptz, primary key (event, list, ticket))`,
  sql`create table message (id bigint generated always as identity primary key, key text, payload jsonb)`,
  sql`
    insert into ticket (event, id, secret, item, name)
    select 1, number.id, 't' || lpad(number.id::text, 31, '0'), 1 + number.id % 2, 'Attendee ' || number.id
      from generate_series(1, 1000000) as number (id)`,
  sql`create unique index on ticket (event, secret)`,
  sql`vacuum analyze ticket`,
];

/** Runs the statement with pgbench, prepared and durable; returns the best rate per second of a few numbers of connections. */
export async function measureReference(url: string, { seconds }: { readonly seconds: number }): Promise<number> {
  let best = 0;
  for (const clients of connections) {
    const rate = await pgbench(url, { seconds, clients });
    best = Math.max(best, rate);
  }
  return best;
}

async function pgbench(
  url: string,
  { seconds, clients }: { readonly seconds: number; readonly clients: number },
): Promise<number> {
  const options = ["-n", "-M", "prepared", "-f", statement, "-c", `${clients}`, "-j", "2", "-T", `${seconds}`];
  try {
    const { stdout } = await run("pgbench", [...options, url], { env: { ...process.env, LC_ALL: "C" } });
    return Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw fault(
      "no_pgbench",
      "this benchmark compares with pgbench, which is not installed; Debian has it in postgresql-client or postgresql-contrib",
    );
  }
}
