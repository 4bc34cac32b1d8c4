/**
 * Cuts a sequence into runs that can be stored by one statement each: neighbours of one group, and no key twice:
 * of two records with the same key the later one wins.
 */
export function splitRuns<T>(
  records: readonly T[],
  by: { group: (record: T) => string; keys: (record: T) => readonly string[] },
): T[][] {
  const runs: T[][] = [];
  let group: string | undefined;
  let keys = new Set<string>();
  for (const record of records) {
    const own = by.keys(record);
    const run = runs.at(-1);
    if (run !== undefined && group === by.group(record) && !own.some((key) => keys.has(key))) {
      run.push(record);
      for (const key of own) keys.add(key);
    } else {
      runs.push([record]);
      group = by.group(record);
      keys = new Set(own);
    }
  }
  return runs;
}
