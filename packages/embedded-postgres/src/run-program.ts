import { spawn } from "node:child_process";
import { chown } from "node:fs/promises";
import type { Fault } from "@tessera/kit/fault";
import type { DatabaseAccount } from "./account.ts";
import { fault } from "./faults.ts";

/** Gives what we created to the account that the database runs under. */
export async function give(path: string, account: DatabaseAccount | undefined): Promise<void> {
  if (account !== undefined) await chown(path, account.uid, account.gid);
}

/** The environment of the database. Nothing of ours: PGDATA, PGPORT, LANG and others would change what the programs do. */
export function environment(): Record<string, string> {
  const libraries = process.env["LD_LIBRARY_PATH"];
  return { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC", ...(libraries ? { LD_LIBRARY_PATH: libraries } : {}) };
}

/** Runs a program to its end; a program that cannot be run ends without a code. */
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

/** Says in one sentence what the program itself said last, or last as an error. */
export function cannotRun(program: string, output: string): Fault {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const telling = lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.at(-1) ?? "it said nothing";
  return fault(
    "embedded_database_failed",
    `the embedded PostgreSQL does not run here (${program}: ${telling.trim()}): remove the cause, or pass --database-url with the URL of a PostgreSQL server`,
    { cause: new Error(output) },
  );
}
