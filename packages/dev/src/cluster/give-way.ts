import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** The services that every scan passes. */
const ofGates: ReadonlySet<string> = new Set(["gateway", "checkin"]);

/** A process with it gets about a fifth of what a usual one gets of a processor that both want, as in the Helm chart. */
const niceness = 7;

/** Linux takes one such change in a tenth of a second from users without rights, of all of them together. */
const busy = { code: "EAGAIN", pauseMs: 110, tries: 20 } as const;

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
  for (let tries = 0; tries < busy.tries; tries += 1) {
    try {
      // Linux shares processors among sessions first, where it groups processes by them.
      writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== busy.code) return;
      await sleep(busy.pauseMs);
    }
  }
}
