import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

/** A lock that lasts until the end of the transaction. Many may share it, or one has it alone. */
export interface Lock {
  readonly name: string;
  readonly exclusive: boolean;
}

/** The lock of all that belongs to an organizer: whoever changes one of its events shares it, whoever changes what they share has it alone. */
export function organizerLock(organizer: string): string {
  return `records ${organizer}`;
}

/** The locks of whoever changes something in these events. */
export function eventLocks(scopes: readonly Scope[]): Lock[] {
  const locks = scopes.flatMap(({ organizer, event }) => {
    const ofOrganizer = organizerLock(organizer);
    return [
      { name: ofOrganizer, exclusive: false },
      { name: `${ofOrganizer}/${event}`, exclusive: true },
    ];
  });
  return [...new Map(locks.map((lock) => [lock.name, lock])).values()];
}

/** Takes locks in the order of their names, so that no two transactions wait for each other. */
export async function take(tx: Tx, locks: readonly Lock[]): Promise<void> {
  const sorted = locks.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  await tx.run(sql`
    select case when wanted.exclusive then pg_advisory_xact_lock(hashtextextended(wanted.name, 0))
                else pg_advisory_xact_lock_shared(hashtextextended(wanted.name, 0))
           end
      from unnest(${sorted.map((lock) => `boxoffice ${lock.name}`)}::text[],
                  ${sorted.map((lock) => lock.exclusive)}::boolean[]) as wanted (name, exclusive)`);
}
