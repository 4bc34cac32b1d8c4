import pg from "pg";

/** The role that a service acts as. */
export function roleOf(schema: string): string {
  return `tessera_${schema}`;
}

/**
 * Creates what a database administrator would: a role and a schema for each
 * service, reachable by no other service. Repeating it changes nothing.
 */
export async function provision(options: { url: string; schemas: readonly string[] }): Promise<void> {
  const client = new pg.Client({ connectionString: options.url, application_name: "tessera-provision", connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    // Roles belong to the whole server: databases that are provisioned at the same time wait for each other.
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock(hashtextextended('tessera provision', 0))");
    await client.query("create extension if not exists pg_trgm with schema public");
    for (const schema of options.schemas) await provisionSchema(client, schema);
    await client.query("commit");
  } finally {
    await client.end();
  }
}

async function provisionSchema(client: pg.Client, schema: string): Promise<void> {
  const role = pg.escapeIdentifier(roleOf(schema));
  const { rowCount } = await client.query("select 1 from pg_roles where rolname = $1", [roleOf(schema)]);
  if (rowCount === 0) await client.query(`create role ${role} nologin`);
  const { rows } = await client.query("select pg_has_role(current_user, $1, 'member') as member", [roleOf(schema)]);
  if (rows[0]?.member !== true) await client.query(`grant ${role} to current_user`);
  const { rowCount: present } = await client.query("select 1 from pg_namespace where nspname = $1", [schema]);
  if (present === 0) await client.query(`create schema ${pg.escapeIdentifier(schema)} authorization ${role}`);
  await client.query(`revoke all on schema ${pg.escapeIdentifier(schema)} from public`);
}
