import { readdir, readFile, writeFile } from "node:fs/promises";
import { getPriority, setPriority } from "node:os";
import { poll } from "./poll.ts";

/** What has it gets about a fifth of what others get of a processor that both want, as in the Helm chart. */
const niceness = 7;

/** Linux takes one change of a session in a tenth of a second from users without rights, of all of them together. */
const longestMs = 10_000;

/**
 * Has a process of this machine give way to the others. Where these are idle it loses nothing. What cannot be changed stays as
 * it is: without such priorities everything runs, and what is urgent waits longer.
 */
export async function giveWay(pid: number): Promise<void> {
  // Linux has priorities of threads, and each has the one of the thread that began it.
  for (const thread of await threadsOf(pid)) lower(thread);
  // Where Linux groups processes by sessions, it shares processors among these first. Our own session stays.
  const [own, its] = await Promise.all([sessionOf("self"), sessionOf(pid)]);
  if (its === undefined || its.name === own?.name || its.niceness >= niceness) return;
  const isSettled = () =>
    writeFile(`/proc/${pid}/autogroup`, String(niceness)).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== "EAGAIN",
    );
  await poll(isSettled, { until: Date.now() + longestMs });
}

/** The threads of a process; the process itself where they have no priorities of their own. */
async function threadsOf(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  return threads.length === 0 ? [pid] : threads.map(Number);
}

function lower(thread: number): void {
  try {
    if (getPriority(thread) < niceness) setPriority(thread, niceness);
  } catch {
    // It has ended, or is one that this process may not change.
  }
}

/** The group of processes that a session is; undefined where Linux does not group them. */
async function sessionOf(
  pid: number | "self",
): Promise<{ readonly name: string; readonly niceness: number } | undefined> {
  const text = await readFile(`/proc/${pid}/autogroup`, "utf8").catch(() => "");
  const [, name, nice] = /^(\/autogroup-\d+) nice (-?\d+)/.exec(text) ?? [];
  return name === undefined ? undefined : { name, niceness: Number(nice) };
}
