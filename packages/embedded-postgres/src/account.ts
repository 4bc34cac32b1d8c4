import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** The system account that the database runs under, where it is not our own. */
export interface DatabaseAccount {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root, so there it runs under the one account without rights that every system has. */
export const unprivileged: DatabaseAccount = { uid: 65_534, gid: 65_534 };

export function runsAsRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Tells whether an account can pass to a path, and there enter the directory, or read (and run) the file. */
export async function isReachable(path: string, account: DatabaseAccount): Promise<boolean> {
  try {
    for (let at = await realpath(path); ; at = dirname(at)) {
      if (!permits(await stat(at), account)) return false;
      if (at === dirname(at)) return true;
    }
  } catch {
    return false;
  }
}

function permits(entry: Stats, account: DatabaseAccount): boolean {
  const wanted = entry.isDirectory() ? 1 : entry.mode & 0o111 ? 5 : 4;
  const ofOwner = entry.uid === account.uid;
  const ofGroup = entry.gid === account.gid;
  const granted = ofOwner ? entry.mode >> 6 : ofGroup ? entry.mode >> 3 : entry.mode;
  return (granted & wanted) === wanted;
}
