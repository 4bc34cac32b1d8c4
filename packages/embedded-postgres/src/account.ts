import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** The system account of the database, if it is not the account of this process. */
export interface DatabaseAccount {
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root. Then it runs as the user without rights that every system has, and that unrelated
 * programs share. What keeps these out is the group: no program has it, systems do not give it away (it is above the
 * dynamic users of systemd, and reserved in Debian), and it exists within user namespaces, too. Directories of the
 * database are open to this group alone. A process of another group cannot look into the memory of the server either.
 */
export const unprivileged: DatabaseAccount = { uid: 65_534, gid: 65_523 };

export function runsAsRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Whether an account can reach a path, and enter the directory or read (and run) the file there. */
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
