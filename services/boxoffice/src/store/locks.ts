import type { Tx } from "@tessera/kit/pg/database";
import { declareLock, takeLocks as takeKitLocks } from "@tessera/kit/pg/locks";
import type { Scope } from "../domain/scope.ts";

const named = declareLock("boxoffice");

/** A lock that lasts until the end of the transaction. Many may share it, or one has it alone. */
export interface Lock {
  readonly name: string;
  readonly exclusive: boolean;
}

/** The lock of all that belongs to an organizer: whoever changes one of its events shares it, whoever changes what they share has it alone. */
function organizerLock(organizer: string): string {
  return `records ${organizer}`;
}

/**
 * The locks of a change of what belongs to these. Changes of one event follow each other, and what belongs to an organizer
 * changes while none of its events does.
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

/** Takes locks until the transaction ends. */
export async function takeLocks(tx: Tx, locks: readonly Lock[]): Promise<void> {
  const toLock = ({ name }: Lock) => named(name);
  await takeKitLocks(tx, {
    alone: locks.filter(({ exclusive }) => exclusive).map(toLock),
    shared: locks.filter(({ exclusive }) => !exclusive).map(toLock),
  });
}
