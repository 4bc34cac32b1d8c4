import type { Tx } from "@tessera/kit/pg/database";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import type { Scope } from "../domain/scope.ts";

const named = declareLock("boxoffice");

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

/** Takes locks until the transaction ends. */
export async function take(tx: Tx, locks: readonly Lock[]): Promise<void> {
  const toLock = ({ name }: Lock) => named(name);
  await takeLocks(tx, {
    alone: locks.filter(({ exclusive }) => exclusive).map(toLock),
    shared: locks.filter(({ exclusive }) => !exclusive).map(toLock),
  });
}
