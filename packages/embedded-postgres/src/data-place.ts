import { hash } from "node:crypto";
import { chmod, chown, readdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { makeFolder } from "@tessera/kit/make-folder";
import { type DatabaseAccount, isReachable, runsAsRoot, unprivileged } from "./account.ts";
import { fault } from "./faults.ts";

/** The directory of a database, and its account if that is not the account of this process. */
export interface DataPlace {
  /** Has `data`, `run`, who may connect, the log and the lock. Only `data` belongs to the database's account. */
  readonly directory: string;
  readonly account: DatabaseAccount | undefined;
}

/** The data of directories that the database's account cannot reach, when this process is root. */
export const elsewhere = "/var/lib/tessera";

/**
 * Prepares the place of a database.
 *
 * That is the wanted directory. The exception: as root, when the database's account cannot reach it (a project in a
 * closed home directory), it is a directory below `elsewhere`. A place that already has data stays the place, even if
 * permissions have changed.
 */
export async function prepareDataPlace(options: {
  directory: string;
  log: (line: string) => void;
}): Promise<DataPlace> {
  const directory = await makeDirectory(resolve(options.directory));
  if (!runsAsRoot()) return { directory, account: undefined };

  const owner = await ownerOfData(directory);
  if (owner !== undefined) {
    if (owner.gid === unprivileged.gid) await openToGroup(directory);
    if (await isReachable(directory, owner)) return { directory, account: owner };
    throw fault(
      "data_directory_not_writable",
      `${directory} holds a database that its account (user ${owner.uid}) can no longer reach: let others pass through the directories above it (chmod o+x)`,
    );
  }
  const other = join(elsewhere, hashOf(directory));
  const otherOwner = await ownerOfData(other);
  if (otherOwner === undefined) {
    await openToGroup(directory);
    if (await isReachable(directory, unprivileged)) return { directory, account: unprivileged };
    await makeDirectory(other);
    await writeFile(join(other, "belongs-to"), `${directory}\n`);
    await openToGroup(other);
  }
  options.log(`the database's account cannot reach ${directory}: the data is in ${other}`);
  return { directory: await realpath(other), account: otherOwner ?? unprivileged };
}

/** Creates a directory. As root, other accounts may pass through all directories that this creates, whatever the umask. */
async function makeDirectory(path: string): Promise<string> {
  const first = await makeFolder(path);
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
 * Lets the group of the database's account pass through a directory, and no other account, if it has only files of the
 * database. Root stays its owner, so that the account can replace neither the lock nor the log.
 */
async function openToGroup(directory: string): Promise<void> {
  const { mode, uid } = await stat(directory);
  const names = await readdir(directory);
  if (uid !== 0 || !names.every((name) => ofDatabase.test(name))) return;
  await chown(directory, uid, unprivileged.gid);
  await chmod(directory, (mode & 0o700) | 0o010);
}

const ofDatabase =
  /^(?:data(?:\.new-.*|\.discarded)?|run|pg_(?:hba|ident)\.conf.*|postgres\.log.*|lock\..*|belongs-to)$/;

function hashOf(directory: string): string {
  return hash("sha256", directory).slice(0, 16);
}
