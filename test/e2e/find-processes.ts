import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** A running process and its command line. */
export interface FoundProcess {
  readonly pid: number;
  readonly args: string;
}

/** Finds all processes that a process has started, and those that they have started. */
export async function findDescendants(pid: number): Promise<FoundProcess[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="], {
    maxBuffer: 16 * 1024 * 1024,
  });
  const all = stdout.split("\n").map((line) => {
    const [, own, parent, args = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return { pid: Number(own), parent: Number(parent), args };
  });
  const descendants = (of: number): FoundProcess[] =>
    all.filter(({ parent }) => parent === of).flatMap((child) => [child, ...descendants(child.pid)]);
  return descendants(pid);
}
