import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { declareLock, freeAt, takeLocks as takeKitLocks } from "@tessera/kit/pg/locks";
import type { Scope } from "../domain/scope.ts";

const named = declareLock("boxoffice");

/** A lock until the end of the transaction: shared, or exclusive. */
export interface Lock {
  readonly name: string;
  readonly exclusive: boolean;
}

/** The lock of an organizer: changes of an event share it, changes of common entities take it exclusively. */
function organizerLock(organizer: string): string {
  return `records ${organizer}`;
}

/** The lock of an event: its changes take it exclusively. */
function eventLock({ organizer, event }: Scope): string {
  return `${organizerLock(organizer)}/${event}`;
}

/**
 * The locks of a change in these scopes. Changes of one event are serialized. Entities of an organizer change only
 * while none of its events does.
 */
export function locksOf(scopes: readonly Scope[]): Lock[] {
  const locks = new Map<string, Lock>();
  for (const { organizer, event } of scopes) {
    const ofOrganizer = organizerLock(organizer);
    const exclusive = event === "" || locks.get(ofOrganizer)?.exclusive === true;
    locks.set(ofOrganizer, { name: ofOrganizer, exclusive });
    const ofEvent = eventLock({ organizer, event });
    if (event !== "") locks.set(ofEvent, { name: ofEvent, exclusive: true });
  }
  return [...locks.values()];
}

/**
 * The lock of all holds of an event: each sees what earlier ones hold. Batches of records and facts of vouchers do not
 * take it, so no hold waits for an import: orders are stored whether or not there is room, and a fact confirms in one
 * transaction, which a statement sees completely or not at all.
 */
export function lockOfHolds({ organizer, event }: Scope): Lock {
  return { name: `holds ${organizer}/${event}`, exclusive: true };
}

/** A time up to which all changes of an organizer's records are committed; undefined: a change is in progress. */
export function unchangedAt(db: Queryable, organizer: string): Promise<number | undefined> {
  return freeAt(db, named(organizerLock(organizer)));
}

/** The same of the changes of an event. */
export function eventUnchangedAt(db: Queryable, scope: Scope): Promise<number | undefined> {
  return freeAt(db, named(eventLock(scope)));
}

export async function takeLocks(tx: Tx, locks: readonly Lock[]): Promise<void> {
  const toLock = ({ name }: Lock) => named(name);
  await takeKitLocks(tx, {
    alone: locks.filter(({ exclusive }) => exclusive).map(toLock),
    shared: locks.filter(({ exclusive }) => !exclusive).map(toLock),
  });
}
