import { randomUUID } from "node:crypto";
import { open, rename } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { DataPlace } from "./data-place.ts";

/**
 * Writes who may connect: the user of this process and root, as any role. The operating system tells the server who is at
 * the other end of the socket. As root the server runs as another user, which other programs may share; these cannot
 * connect, and cannot write the files.
 */
export async function admitOwner({
  directory,
  account,
}: DataPlace): Promise<{ readonly hba_file: string; readonly ident_file: string }> {
  const users = new Set(["root", userInfo().username]);
  const write = async (name: string, lines: readonly string[]) => {
    const path = join(directory, name);
    const draft = `${path}.${randomUUID()}`;
    // Never through a link that somebody else has put there.
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(lines.map((line) => `${line}\n`).join(""));
      if (account !== undefined) {
        await file.chown(0, account.gid);
        await file.chmod(0o640);
      }
    } finally {
      await file.close();
    }
    await rename(draft, path);
    return path;
  };
  return {
    hba_file: await write("pg_hba.conf", ["local all all peer map=owner"]),
    ident_file: await write(
      "pg_ident.conf",
      [...users].map((user) => `owner "${user}" all`),
    ),
  };
}
