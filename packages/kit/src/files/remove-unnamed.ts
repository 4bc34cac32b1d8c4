import type { Clock } from "../clock.ts";
import type { Files } from "./files.ts";

/** Few enough for one request to any store. */
const atOnce = 500;

/** A process that stores a file names it in a row much sooner, unless it has ended in between. */
const abandonedAfterMicros = 3_600_000_000;

/**
 * Removes orphans: files that were stored more than an hour ago and that no row names. It is safe if a file is stored
 * before the row that names it, and if no row ever names a key again. Replicas may do it at the same time.
 */
export async function removeUnnamed(
  files: Files,
  options: {
    readonly prefix: string;
    /** Whether rows name files like this one. */
    readonly isOurs: (key: string) => boolean;
    /** The keys among these that rows name. */
    readonly findNamed: (keys: readonly string[]) => Promise<ReadonlySet<string>>;
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { prefix, isOurs, findNamed, clock, signal } = options;
  const cutoff = clock.now() - abandonedAfterMicros;
  const removeOf = async (keys: readonly string[]) => {
    const named = await findNamed(keys);
    await files.remove(keys.filter((key) => !named.has(key)));
  };
  let old: string[] = [];
  for await (const { key, storedAt } of files.list(prefix)) {
    if (signal.aborted) return;
    if (isOurs(key) && storedAt < cutoff) old.push(key);
    if (old.length < atOnce) continue;
    await removeOf(old);
    old = [];
  }
  if (old.length > 0) await removeOf(old);
}
