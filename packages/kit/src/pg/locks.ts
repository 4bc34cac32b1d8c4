import type { Queryable } from "./database.ts";
import { type Sql, sql } from "./sql.ts";

/** An advisory lock. All services of a database share one space of names. */
export interface Lock {
  readonly name: string;
}

const declared = new Set<string>();

/**
 * Declares a kind of lock. The `parts` distinguish its locks, for instance a schema or an id. Every advisory lock of the
 * platform is declared with this, so that no two kinds have the same name and block each other by accident.
 */
export function declareLock(kind: string): (...parts: readonly string[]) => Lock {
  if (declared.has(kind)) throw new Error(`the lock ${kind} is declared twice`);
  declared.add(kind);
  return (...parts) => ({ name: [kind, ...parts].join(" ") });
}

/** Locks to take together: `shared` ones by any number of transactions, `alone` by one. */
export interface Locks {
  readonly alone?: readonly Lock[];
  readonly shared?: readonly Lock[];
}

/** Takes locks until the transaction ends, and waits for them. The order of their names is the order of locking, which prevents deadlocks. */
export async function takeLocks(tx: Queryable, { alone = [], shared = [] }: Locks): Promise<void> {
  const wanted = [
    ...alone.map(({ name }) => ({ name, exclusive: true })),
    ...shared.map(({ name }) => ({ name, exclusive: false })),
  ].sort((one, other) => (one.name < other.name ? -1 : 1));
  await tx.run(sql`
    select case when wanted.exclusive then pg_advisory_xact_lock(${key(sql`wanted.name`)})
                else pg_advisory_xact_lock_shared(${key(sql`wanted.name`)})
           end
      from unnest(${wanted.map(({ name }) => name)}::text[],
                  ${wanted.map(({ exclusive }) => exclusive)}::boolean[]) as wanted (name, exclusive)`);
}

/** Takes a lock until the transaction ends, if it is free. */
export async function tryLock(tx: Queryable, { name }: Lock): Promise<boolean> {
  const { taken } = await tx.one<{ taken: boolean }>(
    sql`select pg_try_advisory_xact_lock(${key(sql`${name}`)}) as taken`,
  );
  return taken;
}

/** Takes a lock until the connection ends, if it is free. */
export async function tryLead(connection: Queryable, { name }: Lock): Promise<boolean> {
  const { leads } = await connection.one<{ leads: boolean }>(
    sql`select pg_try_advisory_lock(${key(sql`${name}`)}) as leads`,
  );
  return leads;
}

/**
 * When it was asked whether a lock is free, in microseconds since 1970; undefined: a transaction has it. What others did under
 * the lock before that time is committed, and what they do under it later comes later.
 */
export async function freeAt(db: Queryable, { name }: Lock): Promise<number | undefined> {
  const { at } = await db.one<{ at: number | null }>(sql`
    select case when not exists (select from pg_locks
                                  where pg_locks.locktype = 'advisory'
                                    and pg_locks.granted
                                    and pg_locks.database = (select pg_database.oid from pg_database
                                                              where pg_database.datname = current_database())
                                    and (pg_locks.classid::bigint << 32) | pg_locks.objid::bigint = ${key(sql`${name}`)})
                then statement_timestamp()
           end as at`);
  return at ?? undefined;
}

function key(name: Sql): Sql {
  return sql`hashtextextended(${name}, 0)`;
}
