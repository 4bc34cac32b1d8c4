import { spawn } from "node:child_process";
import { chown } from "node:fs/promises";
import type { Fault } from "@tessera/kit/fault";
import type { DatabaseAccount } from "./account.ts";
import { fault } from "./faults.ts";

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
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000);
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.once("error", (error) => resolve({ code: null, output: error.message }));
    child.once("close", (code) => resolve({ code, output }));
  });
}

/** The fault for a program that failed, with the last error line of its output, or its last line. */
export function cannotRun(program: string, output: string): Fault {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const telling = lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.at(-1) ?? "it said nothing";
  return fault(
    "embedded_database_failed",
    `the embedded PostgreSQL does not run here (${program}: ${telling.trim()}): remove the cause, or pass --database-url with the URL of a PostgreSQL server`,
    { cause: new Error(output) },
  );
}
