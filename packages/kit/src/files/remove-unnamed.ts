import type { Clock } from "../clock.ts";
import type { Job } from "../jobs/interval.ts";
import type { Db } from "../pg/database.ts";
import type { Files, StoredFile } from "./files.ts";

/** Few enough for one request to any store. */
const atOnce = 500;

/** A process that stores a file names it in a row much sooner, unless it has ended in between. */
const abandonedAfterMicros = 3_600_000_000;

interface Unnamed {
  readonly prefix: string;
  /** Whether rows name files like this one. */
  readonly isOurs: (key: string) => boolean;
  /** The keys among these that rows name. */
  readonly findNamed: (keys: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly signal: AbortSignal;
}

export interface FileStores {
  readonly db: Db;
  readonly files: Files;
  readonly clock: Clock;
}

/** Makes a job of `removeUnnamed`. */
export function removeUnnamedJob(
  { files, clock }: Omit<FileStores, "db">,
  { name, everyMinutes, ...which }: Omit<Unnamed, "signal"> & { readonly name: string; readonly everyMinutes: number },
): Job {
  return {
    name,
    everyMs: everyMinutes * 60_000,
    run: (signal) => removeUnnamed(files, { ...which, clock, signal }),
  };
}

/**
 * Removes orphans: files that were stored more than an hour ago and that no row names, and what puts of killed processes
 * have stored. It is safe if a file is stored before the row that names it, and if no row ever names a key again. Replicas may
 * do it at the same time.
 */
export function removeUnnamed(files: Files, { clock, ...which }: Unnamed & { readonly clock: Clock }): Promise<void> {
  return removeUnnamedBefore(files, { ...which, before: clock.now() - abandonedAfterMicros });
}

/**
 * Removes orphans that were stored before an instant, in microseconds since 1970, from which on rows may still name them. Of
 * a file that is not complete it is the instant of its last bytes.
 */
export async function removeUnnamedBefore(
  files: Files,
  { prefix, isOurs, findNamed, before, signal }: Unnamed & { readonly before: number },
): Promise<void> {
  const removeOld = async (found: AsyncIterable<StoredFile>, remove: (keys: readonly string[]) => Promise<void>) => {
    const removeOf = async (keys: readonly string[]) => {
      const named = await findNamed(keys);
      await remove(keys.filter((key) => !named.has(key)));
    };
    let old: string[] = [];
    for await (const { key, storedAt } of found) {
      if (signal.aborted) return;
      if (isOurs(key) && storedAt < before) old.push(key);
      if (old.length < atOnce) continue;
      await removeOf(old);
      old = [];
    }
    if (old.length > 0) await removeOf(old);
  };
  // In this order: a put that ends in between is in the second list. A store that refuses the first one still loses the second.
  try {
    await removeOld(files.listUnfinished(prefix), files.removeUnfinished);
  } finally {
    await removeOld(files.list(prefix), files.remove);
  }
}
