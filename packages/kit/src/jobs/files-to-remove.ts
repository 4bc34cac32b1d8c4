import type { Files } from "../files/files.ts";
import type { Db, Queryable } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import type { Job } from "./interval.ts";

/*
 * Files that no row names any more, and that go at once. The transaction after which none does notes their keys in the table
 * `file_to_remove (key)` of its service.
 */

const everyMs = 60_000;

/** Few enough for one request to any store. */
const atOnce = 500;

/** Notes files that no row names from now on. */
export async function noteFilesToRemove(tx: Queryable, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.run(sql`
    insert into file_to_remove (key)
    select sent.key
      from unnest(${keys}::text[]) as sent (key)
     order by sent.key collate "C"
        on conflict (key) do nothing`);
}

/** Removes files that are noted. Any number of replicas may do it at a time, and after a crash the next one goes on. */
export function removeNotedFiles({ db, files }: { readonly db: Db; readonly files: Files }): Job {
  return {
    name: "remove-noted-files",
    everyMs,
    async run(signal) {
      for (let found = atOnce; found === atOnce && !signal.aborted; ) {
        const rows = await db.many<{ key: string }>(sql`
          select file_to_remove.key from file_to_remove order by file_to_remove.key limit ${atOnce}`);
        const keys = rows.map(({ key }) => key);
        await files.remove(keys);
        // Afterwards: a process that is killed here leaves them to the next one.
        await db.run(sql`delete from file_to_remove where file_to_remove.key = any(${keys}::text[])`);
        found = keys.length;
      }
    },
  };
}
