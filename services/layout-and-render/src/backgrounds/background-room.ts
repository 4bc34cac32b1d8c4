import { Fault, isTransient } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import type { Background } from "../domain/selection/layout.ts";
import { fault } from "../faults.ts";
import { sumBackgrounds } from "../store/stored-layouts.ts";
import { keyOf } from "./backgrounds.ts";

/** Some thousand backgrounds of usual size, or two hundred of the largest. */
const mostBytes = 2 * 1024 ** 3;

const roomLock = declareLock("tessera backgrounds");

/** Serializes the storing of backgrounds of an organizer. */
export function lockRoom(tx: Tx, organizer: string): Promise<void> {
  return takeLocks(tx, { alone: [roomLock(organizer)] });
}

/** Throws if one more background exceeds the organizer's quota. The result is valid only under the lock. */
export async function requireRoom(
  db: Queryable,
  organizer: string,
  { size }: { readonly size: number },
): Promise<void> {
  if ((await sumBackgrounds(db, organizer)) + size <= mostBytes) return;
  const message = `The backgrounds of all your layouts may have ${mostBytes / 1024 ** 3} GiB together. Remove some.`;
  throw fault("too_many_backgrounds", message, { fields: { background: [message] } });
}

/** Runs the work that stores the name of a copied background, and removes the copy if the work is refused. */
export async function orRemove<T>(
  store: () => Promise<T>,
  { files, background }: { readonly files: Pick<Files, "remove">; readonly background: Background | null },
): Promise<T> {
  try {
    return await store();
  } catch (error) {
    // After any other failure the name may have been stored.
    if (background !== null && error instanceof Fault && !isTransient(error))
      await files.remove([keyOf(background.name)]);
    throw error;
  }
}
