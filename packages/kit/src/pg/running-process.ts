import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * When a process started, as a mark that no other process of the same id ever bears: `undefined` where the system
 * does not say (no /proc), or where there is no such process.
 */
export function startMarkOf(pid: number): string | undefined {
  const startedAt = statOf(pid)?.[19];
  return startedAt === undefined ? undefined : `${startedAt}-${bootId()}`;
}

/**
 * Tells whether the process that bore the mark still runs. A finished process whose parent did not ask for its end
 * counts as gone; where marks are unknown, the process id alone decides.
 */
export function isRunning(pid: number, startMark?: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Anything but "no such process" means that it exists: it may belong to another account.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const state = statOf(pid)?.[0];
  if (state === undefined) return true;
  if (state === "Z" || state === "X") return false;
  return startMark === undefined || startMarkOf(pid) === startMark;
}

/** The arguments a process was started with; empty where it is gone. */
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

/** The processes that work in a directory, as far as the system shows them to us. */
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

/** The fields of /proc/PID/stat from the third on. The second, the program's name, may hold blanks and parentheses. */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/** Process ids and start times both begin anew with each boot. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").slice(0, 8);
  } catch {
    return "0";
  }
}
