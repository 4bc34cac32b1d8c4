import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The arguments of a running process; empty when it has ended. */
export function argumentsOf(pid: number): readonly string[] {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" })
      .trim()
      .split(" ");
  } catch {
    return [];
  }
}

/** The processes in this working directory, as far as this account may see them. */
export function processesIn(directory: string): readonly number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^[0-9]+$/.test(name) && workingDirectoryOf(name) === directory)
      .map(Number);
  } catch {
    return [];
  }
}

function workingDirectoryOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}
