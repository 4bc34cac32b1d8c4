import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { inTransaction, withClient } from "./administer.ts";
import { declareLock } from "./locks.ts";

const provisionLock = declareLock("tessera provision");

export function roleOf(schema: string): string {
  return `tessera_${schema}`;
}

/**
 * Creates a role and a schema for each service, which no other service can use. It needs the rights of an administrator.
 * Repeating it changes nothing.
 */
export function provision({ url, schemas }: { url: string; schemas: readonly string[] }): Promise<void> {
  return withClient({ url, purpose: "provision" }, (client) =>
    untilAlone(() =>
      inTransaction(client, async () => {
        await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [provisionLock().name]);
        await client.query("create extension if not exists pg_trgm with schema public");
        for (const schema of schemas.toSorted()) await provisionSchema(client, schema);
      }),
    ),
  );
}

/** SQLSTATEs of a collision: an object exists, a deadlock, "tuple concurrently updated". */
const collisions = new Set(["42710", "23505", "40P01", "XX000"]);

/**
 * Runs work again after a collision. Roles belong to the whole server, but a lock to one database: at the same moment
 * another process may create the same roles for another database.
 */
async function untilAlone(work: () => Promise<void>): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await work();
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
  // Since version 16 the creator of a role is a member of it, but may not act as it.
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
