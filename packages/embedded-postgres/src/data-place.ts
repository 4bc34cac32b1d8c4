import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type DatabaseAccount, isReachable, runsAsRoot, unprivileged } from "./account.ts";
import { fault } from "./faults.ts";

/** Where a database lies, and the account that it runs under where that is not our own. */
export interface DataPlace {
  /** Holds `data`, `run`, the log and the lock. Ours; only `data` and `run` belong to the account. */
  readonly directory: string;
  readonly account: DatabaseAccount | undefined;
}

/** Where root puts the data of a directory that the database's account cannot reach. */
export const elsewhere = "/var/lib/tessera";

/**
 * Prepares the place of a database.
 *
 * That is the wanted directory, except as root where the account that the database runs under cannot get there (a
 * project below a closed home directory): then it is a directory of its own below `elsewhere`. A place that already
 * holds data is kept, whatever became of the permissions in between.
 */
export async function prepareDataPlace(options: {
  directory: string;
  log: (line: string) => void;
}): Promise<DataPlace> {
  const directory = await makeDirectory(resolve(options.directory));
  if (!runsAsRoot()) return { directory, account: undefined };

  const owner = await ownerOfData(directory);
  if (owner !== undefined) {
    if (await isReachable(directory, owner)) return { directory, account: owner };
    throw fault(
      "data_directory_not_writable",
      `${directory} holds a database that its account (user ${owner.uid}) can no longer reach: let others pass through the directories above it (chmod o+x)`,
    );
  }
  const other = join(elsewhere, hashOf(directory));
  const otherOwner = await ownerOfData(other);
  if (otherOwner === undefined) {
    await openIfOurs(directory);
    if (await isReachable(directory, unprivileged)) return { directory, account: unprivileged };
    await makeDirectory(other);
    await writeFile(join(other, "belongs-to"), `${directory}\n`);
  }
  options.log(`the database's account cannot reach ${directory}: the data is in ${other}`);
  return { directory: await realpath(other), account: otherOwner ?? unprivileged };
}

/** Creates a directory, and lets others pass through those above it that had to be created, whatever the umask is. */
async function makeDirectory(path: string): Promise<string> {
  const first = await mkdir(path, { recursive: true });
  if (first !== undefined && runsAsRoot()) {
    for (let at = path; at.length >= first.length; at = dirname(at)) await chmod(at, 0o755);
  }
  return realpath(path);
}

async function ownerOfData(directory: string): Promise<DatabaseAccount | undefined> {
  try {
    await readFile(join(directory, "data/PG_VERSION"));
    const { uid, gid } = await stat(join(directory, "data"));
    return { uid, gid };
  } catch {
    return undefined;
  }
}

/**
 * Lets the account pass through a closed directory of ours that holds nothing else. It stays ours, so that the
 * account can exchange neither the lock nor the log.
 */
async function openIfOurs(directory: string): Promise<void> {
  const { mode, uid } = await stat(directory);
  const names = await readdir(directory);
  if (uid === 0 && names.every((name) => /^(?:data(?:\.new-.*)?|run|postgres\.log.*|lock\..*)$/.test(name))) {
    await chmod(directory, (mode & 0o777) | 0o011);
  }
}

function hashOf(directory: string): string {
  return createHash("sha256").update(directory).digest("hex").slice(0, 16);
}
