import { declareLock } from "@tessera/kit/pg/locks";
import pg from "pg";

const administrationLock = declareLock("tessera administration");

/** A database server for its administrator, who creates and deletes databases. */
export interface DatabaseServer {
  urlOf(database: string): string;
  hasDatabase(name: string): Promise<boolean>;
  createDatabase(name: string, options?: { template?: string }): Promise<void>;
  renameDatabase(from: string, to: string): Promise<void>;
  dropDatabase(name: string): Promise<void>;
  /** Writes a table to a file on the server, then times a plain COPY of it into a bare table. */
  copyTable(table: string, options: { file: string; target: string }): Promise<{ rows: number; seconds: number }>;
  /** Runs work while no other process runs such work. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Opens a server by the URL of any of its databases. */
export function openServer(url: string): DatabaseServer {
  const client = new pg.Client({
    connectionString: url,
    application_name: "tessera-server",
    connectionTimeoutMillis: 5000,
  });
  const connected = client.connect();
  const query = async (text: string, values: unknown[] = []) => {
    await connected;
    return client.query(text, values);
  };
  const quoted = pg.escapeIdentifier;
  return {
    urlOf: (database) => withDatabase(url, database),
    hasDatabase: async (name) =>
      ((await query("select 1 from pg_database where datname = $1", [name])).rowCount ?? 0) > 0,
    async createDatabase(name, { template } = {}) {
      await query(`create database ${quoted(name)}${template === undefined ? "" : ` template ${quoted(template)}`}`);
    },
    async renameDatabase(from, to) {
      await query(`alter database ${quoted(from)} rename to ${quoted(to)}`);
    },
    async dropDatabase(name) {
      await query(`drop database if exists ${quoted(name)} with (force)`);
    },
    async copyTable(table, { file, target }) {
      await query(`copy ${table} to ${pg.escapeLiteral(file)}`);
      await query(`create table ${quoted(target)} as select * from ${table} with no data`);
      const started = performance.now();
      const { rowCount } = await query(`copy ${quoted(target)} from ${pg.escapeLiteral(file)}`);
      return { rows: rowCount ?? 0, seconds: (performance.now() - started) / 1000 };
    },
    async exclusively(work) {
      await query("select pg_advisory_lock(hashtextextended($1, 0))", [administrationLock().name]);
      try {
        return await work();
      } finally {
        await query("select pg_advisory_unlock(hashtextextended($1, 0))", [administrationLock().name]);
      }
    },
    async close() {
      await connected.catch(() => {});
      await client.end();
    },
  };
}

/** The URL of another database on the same server. By pattern, because a URL with its socket folder in `host=` has no host. */
function withDatabase(url: string, database: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/[^/?]*)(?:\/[^?]*)?/, `$1/${encodeURIComponent(database)}`);
}
