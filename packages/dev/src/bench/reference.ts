import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { openServer } from "@tessera/testkit/database-server";
import { fault } from "../faults.ts";
import { type Sampled, sample } from "./client.ts";
import type { Engines } from "./platform.ts";

const run = promisify(execFile);

/** The frozen statement of one scan. */
const statement = fileURLToPath(new URL("../../bench/reference.sql", import.meta.url));

const connections = [8, 16, 32];

const tables = [
  sql`create schema reference`,
  sql`create table reference.ticket (event bigint, id bigint, secret text, item bigint, name text, primary key (event, id))`,
  sql`create table reference.checkin (event bigint, list bigint, ticket bigint, at timestamptz, primary key (event, list, ticket))`,
  sql`create table reference.message (id bigint generated always as identity primary key, key text, payload jsonb)`,
  sql`
    insert into reference.ticket (event, id, secret, item, name)
    select 1, number.id, 't' || lpad(number.id::text, 31, '0'), 1 + number.id % 2, 'Attendee ' || number.id
      from generate_series(1, 1000000) as number (id)`,
  sql`create unique index on reference.ticket (event, secret)`,
  sql`vacuum analyze reference.ticket`,
];

/**
 * The limit of scans: one statement for each, prepared and durable, on a million tickets. Returns the best rate per second of
 * a few numbers of connections.
 */
export async function measurePgbench({ postgres, open }: Engines, { seconds }: { seconds: number }): Promise<number> {
  const db = open();
  for (const statement of tables) await db.run(statement);
  let best = 0;
  for (const clients of connections) best = Math.max(best, await pgbench(postgres.url, { seconds, clients }));
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

/** The limit of writes: a plain COPY of the rows that tables hold in the end, into tables without an index. */
export async function copySameRows(
  { postgres }: Engines,
  tables: readonly string[],
): Promise<{ readonly seconds: number; readonly rows: number }> {
  const server = openServer(postgres.url);
  const sum = { seconds: 0, rows: 0 };
  try {
    for (const [index, table] of tables.entries()) {
      const file = join(postgres.dataDirectory, "data", `bench-copy-${index}`);
      const { seconds, rows } = await server.copyTable(table, { file, target: `bench_copy_${index}` });
      sum.seconds += seconds;
      sum.rows += rows;
    }
    return sum;
  } finally {
    await server.close();
  }
}

/** The limit of reads: fifty tickets by their keys. */
export function readFifty(checkin: Db, tickets: number): Promise<Sampled> {
  const read = () => {
    const ids = Array.from({ length: 50 }, () => 1 + Math.floor(Math.random() * tickets));
    return checkin.many(sql`
      select position.state
        from position
       where position.organizer = 'bench' and position.event = 'festival' and position.id = any(${ids}::bigint[])`);
  };
  return sample(read, { times: 100 });
}
