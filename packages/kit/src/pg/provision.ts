import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { toFault } from "./failure.ts";
import { declareLock } from "./locks.ts";

const provisionLock = declareLock("tessera provision");

/** The role that a service acts as. */
export function roleOf(schema: string): string {
  return `tessera_${schema}`;
}

/**
 * Creates what a database administrator would: a role and a schema for each
 * service, reachable by no other service. Repeating it changes nothing.
 */
export async function provision(options: { url: string; schemas: readonly string[] }): Promise<void> {
  const client = new pg.Client({
    connectionString: options.url,
    application_name: "tessera-provision",
    connectionTimeoutMillis: 5000,
  });
  // The statement under way fails, too, and tells.
  client.on("error", () => {});
  try {
    await client.connect();
    await untilAlone(() => provisionAll(client, options.schemas));
  } catch (error) {
    throw toFault(error);
  } finally {
    await client.end();
  }
}

async function provisionAll(client: pg.Client, schemas: readonly string[]): Promise<void> {
  await client.query("begin");
  try {
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [provisionLock().name]);
    await client.query("create extension if not exists pg_trgm with schema public");
    for (const schema of schemas.toSorted()) await provisionSchema(client, schema);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** Something exists already, a deadlock, and "tuple concurrently updated". */
const collisions = new Set(["42710", "23505", "40P01", "XX000"]);

/**
 * Roles belong to the whole server, while a lock is known in its database only: who provisions another database at the
 * same moment may create the same role. It is there when we look again.
 */
async function untilAlone(work: () => Promise<void>): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (tried === 20 || !(error instanceof pg.DatabaseError) || !collisions.has(error.code ?? "")) throw error;
      await sleep(Math.random() * 20 * tried);
    }
  }
}

async function provisionSchema(client: pg.Client, schema: string): Promise<void> {
  const role = pg.escapeIdentifier(roleOf(schema));
  const { rowCount } = await client.query("select 1 from pg_roles where rolname = $1", [roleOf(schema)]);
  if (rowCount === 0) await client.query(`create role ${role} nologin`);
  // Since 16, who creates a role is a member of it at once, yet cannot act as it.
  const { rows } = await client.query<{ able: boolean }>(
    `select pg_has_role(current_user, $1,
              case when current_setting('server_version_num')::integer >= 160000 then 'set' else 'member' end) as able`,
    [roleOf(schema)],
  );
  if (rows[0]?.able !== true) await client.query(`grant ${role} to current_user`);
  const { rowCount: present } = await client.query("select 1 from pg_namespace where nspname = $1", [schema]);
  if (present === 0) await client.query(`create schema ${pg.escapeIdentifier(schema)} authorization ${role}`);
  await client.query(`revoke all on schema ${pg.escapeIdentifier(schema)} from public`);
}
