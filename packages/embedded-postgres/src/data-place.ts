import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, chown, realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeFolder } from "@tessera/kit/files/make-folder";
import { type DatabaseAccount, isReachable, runsAsRoot, unprivileged } from "./account.ts";
import { fault } from "./faults.ts";

/** The directory of a database, and its account if that is not the account of this process. */
export interface DataPlace {
  /** Has `data`, `run`, who may connect, the log and the lock. Only `data` belongs to the database's account. */
  readonly directory: string;
  readonly account: DatabaseAccount | undefined;
}

/** Where the data of a directory is that the database's account cannot reach, when this process is root. */
export function elsewhere(directory: string): string {
  return join("/var/lib/tessera", hash("sha256", directory).slice(0, 16));
}

/**
 * Prepares the place of a database: the wanted directory, or as root, when the database's account cannot reach it (a project
 * in a closed home directory), one elsewhere. A place that has data stays the place, even if permissions have changed.
 */
export async function prepareDataPlace(options: {
  directory: string;
  log: (line: string) => void;
}): Promise<DataPlace> {
  await makeFolder(resolve(options.directory));
  const wanted = await realpath(options.directory);
  if (!runsAsRoot()) return { directory: wanted, account: undefined };
  const places = [wanted, elsewhere(wanted)];
  const former = places.find((place) => existsSync(join(place, "data/PG_VERSION")));
  const { uid, gid } = former === undefined ? unprivileged : await stat(join(former, "data"));
  const account = { uid, gid };
  for (const directory of former === undefined ? places : [former]) {
    await makeFolder(directory);
    // Root stays the owner, so that the account can replace neither the lock nor the log. Its group may pass through.
    if (gid === unprivileged.gid) {
      await chown(directory, 0, gid);
      await chmod(directory, 0o710);
    }
    if (!(await isReachable(directory, account))) continue;
    if (directory !== wanted) options.log(`the database's account cannot reach ${wanted}: the data is in ${directory}`);
    return { directory, account };
  }
  throw fault(
    "data_directory_not_writable",
    `the account of the database (user ${uid}) cannot reach ${former ?? wanted}: let others pass through the directories above it (chmod o+x)`,
  );
}
