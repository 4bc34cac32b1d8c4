import { writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { poll } from "@tessera/kit/poll";

/** The services that every scan passes. */
const ofGates: ReadonlySet<string> = new Set(["gateway", "checkin"]);

/** A process with it gets about a fifth of what a usual one gets of a processor that both want, as in the Helm chart. */
const niceness = 7;

/** Linux takes one such change in a tenth of a second from users without rights, of all of them together. */
const longestMs = 2000;

/**
 * Has a process that was just started give way to those that gates need. Where these are idle it loses nothing. On a machine
 * without such priorities everything runs, and scans wait longer.
 */
export async function giveWay(service: string, pid: number): Promise<void> {
  if (ofGates.has(service)) return;
  try {
    setPriority(pid, niceness);
  } catch {
    return;
  }
  // Linux shares processors among sessions first, where it groups processes by them.
  const isSettled = () =>
    writeFile(`/proc/${pid}/autogroup`, String(niceness)).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== "EAGAIN",
    );
  await poll(isSettled, { until: Date.now() + longestMs });
}
