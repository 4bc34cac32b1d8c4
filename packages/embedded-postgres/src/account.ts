import { spawn } from "node:child_process";
import { chown } from "node:fs/promises";

/** The system account of the database, if it is not the account of this process. */
export interface DatabaseAccount {
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root. Then it runs as the user without rights that every system has, and that unrelated
 * programs share. The group keeps these out of its directories: no program has it, and systems do not give it away (it is
 * above the dynamic users of systemd, and reserved in Debian).
 */
export const unprivileged: DatabaseAccount = { uid: 65_534, gid: 65_523 };

export function runsAsRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Makes the database's account the owner of a path. */
export async function give(path: string, account: DatabaseAccount | undefined): Promise<void> {
  if (account !== undefined) await chown(path, account.uid, account.gid);
}

/** The environment of the database's programs. PGDATA, PGPORT, LANG and others of this process would change what they do. */
export function environment(): Record<string, string> {
  const libraries = process.env["LD_LIBRARY_PATH"];
  return { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC", ...(libraries ? { LD_LIBRARY_PATH: libraries } : {}) };
}

/** Runs a program to its end. The code is null when the program cannot be run. */
export async function run(
  program: string,
  account: DatabaseAccount | undefined,
  flags: readonly string[],
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, flags, {
      ...account,
      cwd: "/",
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-4000);
      });
    }
    child.once("error", (error) => resolve({ code: null, output: error.message }));
    child.once("close", (code) => resolve({ code, output }));
  });
}

/** Whether an account can enter a directory, or read a file. */
export async function isReachable(path: string, account: DatabaseAccount): Promise<boolean> {
  const { code } = await run("/bin/sh", account, ["-c", 'test -r "$0" || cd "$0"', path]);
  return code === 0;
}
