import { readFileSync } from "node:fs";

/**
 * When a process started, as a mark that no other process with the same id ever has. `undefined` where the system does
 * not say (no /proc), and for a process that has ended.
 */
export function startMarkOf(pid: number): string | undefined {
  const startedAt = statOf(pid)?.[19];
  return startedAt === undefined ? undefined : `${startedAt}-${bootId()}`;
}

/**
 * Whether the process with this id and start mark still runs. A zombie counts as ended. Where the system gives no
 * marks, the id alone decides.
 */
export function isRunning(pid: number, startMark?: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Any other error means that the process exists: it may belong to another account.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const state = statOf(pid)?.[0];
  if (state === undefined) return true;
  if (state === "Z" || state === "X") return false;
  return startMark === undefined || startMarkOf(pid) === startMark;
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

/** Process ids and start times start again with each boot. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").slice(0, 8);
  } catch {
    return "0";
  }
}
