import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { declareLock, freeAt, takeLocks as takeKitLocks } from "@tessera/kit/pg/locks";
import type { Scope } from "../domain/scope.ts";

const named = declareLock("boxoffice");

/** A lock until the end of the transaction: shared by many transactions, or exclusive. */
export interface Lock {
  readonly name: string;
  readonly exclusive: boolean;
}

/** The lock of an organizer: a change of one of its events shares it, a change of what its events share holds it exclusively. */
function organizerLock(organizer: string): string {
  return `records ${organizer}`;
}

/**
 * The locks of a change in these scopes. Changes of one event run one after the other. What belongs to an organizer itself
 * changes only while none of its events does.
 */
export function locksOf(scopes: readonly Scope[]): Lock[] {
  const locks = new Map<string, Lock>();
  for (const { organizer, event } of scopes) {
    const ofOrganizer = organizerLock(organizer);
    const exclusive = event === "" || locks.get(ofOrganizer)?.exclusive === true;
    locks.set(ofOrganizer, { name: ofOrganizer, exclusive });
    const ofEvent = `${ofOrganizer}/${event}`;
    if (event !== "") locks.set(ofEvent, { name: ofEvent, exclusive: true });
  }
  return [...locks.values()];
}

/**
 * The lock of all holds of an event: each sees what those before it hold. Batches of records and facts of vouchers do not
 * take it, so a hold waits for no import: orders are stored whether or not there is room, and a fact confirms in one
 * transaction, which a statement sees completely or not at all.
 */
export function lockOfHolds({ organizer, event }: Scope): Lock {
  return { name: `holds ${organizer}/${event}`, exclusive: true };
}

/** A time before which no change of an organizer's records is under way; undefined: one is. */
export function unchangedAt(db: Queryable, organizer: string): Promise<number | undefined> {
  return freeAt(db, named(organizerLock(organizer)));
}

/** Takes locks until the transaction ends. */
export async function takeLocks(tx: Tx, locks: readonly Lock[]): Promise<void> {
  const toLock = ({ name }: Lock) => named(name);
  await takeKitLocks(tx, {
    alone: locks.filter(({ exclusive }) => exclusive).map(toLock),
    shared: locks.filter(({ exclusive }) => !exclusive).map(toLock),
  });
}
