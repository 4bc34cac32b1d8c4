import type { Clock } from "../clock.ts";
import type { Files } from "./files.ts";

/** Few enough that no store has to remove too many at once. */
const atOnce = 500;

/** Nobody takes so long from storing a file to naming it in a row, unless he has ended in between. */
const abandonedAfterMicros = 3_600_000_000;

/**
 * Removes files that were stored more than an hour ago and that no row names. It is safe where bytes are stored before
 * the row that names them, and where a key that no row names after that time is never named again. Any number of
 * replicas may do it at a time.
 */
export async function removeUnnamed(
  files: Files,
  options: {
    readonly prefix: string;
    /** Whether a file below the prefix is one of those that rows name. */
    readonly isOurs: (key: string) => boolean;
    /** Those of some keys that rows name. */
    readonly findNamed: (keys: readonly string[]) => Promise<ReadonlySet<string>>;
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { prefix, isOurs, findNamed, clock, signal } = options;
  const line = clock.now() - abandonedAfterMicros;
  const removeOf = async (keys: readonly string[]) => {
    const named = await findNamed(keys);
    await files.remove(keys.filter((key) => !named.has(key)));
  };
  let old: string[] = [];
  for await (const { key, storedAt } of files.list(prefix)) {
    if (signal.aborted) return;
    if (isOurs(key) && storedAt < line) old.push(key);
    if (old.length < atOnce) continue;
    await removeOf(old);
    old = [];
  }
  if (old.length > 0) await removeOf(old);
}
