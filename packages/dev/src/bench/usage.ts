import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** What processes have used since they began: seconds of CPU; and memory in MiB: the peak, and what is resident now. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
  readonly residentMegabytes: number;
}

/** Reads what one process has used; zero if the system does not report it. */
export async function usageOf(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([readStat(pid), readText(`/proc/${pid}/status`)]);
  return { cpuSeconds: stat?.ownSeconds ?? 0, ...memoryOf(status) };
}

/** Reads what the processes of a PostgreSQL server have used, ended ones included; the memory is that of the largest. */
export async function usageOfPostgres(dataDirectory: string): Promise<Usage> {
  const parent = Number((await readText(join(dataDirectory, "data", "postmaster.pid"))).split("\n")[0]);
  const stats = await readStats();
  const children = stats.filter(({ stat }) => stat?.parent === parent);
  const server = stats.find(({ pid }) => pid === parent)?.stat;
  const memories = await Promise.all(children.map(({ pid }) => readText(`/proc/${pid}/status`).then(memoryOf)));
  return {
    cpuSeconds: children.reduce(
      (sum, { stat }) => sum + (stat?.ownSeconds ?? 0),
      (server?.ownSeconds ?? 0) + (server?.endedSeconds ?? 0),
    ),
    peakMegabytes: Math.max(0, ...memories.map(({ peakMegabytes }) => peakMegabytes)),
    residentMegabytes: Math.max(0, ...memories.map(({ residentMegabytes }) => residentMegabytes)),
  };
}

/** What a benchmark runs. */
interface Running {
  readonly processes: () => readonly { readonly pid: number }[];
  readonly postgres: { readonly dataDirectory: string };
}

/** Seconds of processor time since they began, of all our processes and of PostgreSQL. */
export async function readProcessors({ processes, postgres }: Running): Promise<{ ours: number; postgres: number }> {
  const ours = await Promise.all(processes().map(({ pid }) => usageOf(pid)));
  return {
    ours: ours.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    postgres: (await usageOfPostgres(postgres.dataDirectory)).cpuSeconds,
  };
}

/** The same of all together. */
export async function processorSeconds(running: Running): Promise<number> {
  const { ours, postgres } = await readProcessors(running);
  return ours + postgres;
}

interface Stat {
  readonly parent: number;
  readonly ownSeconds: number;
  /** Of its children that have ended. */
  readonly endedSeconds: number;
}

/** The kernel reports hundredths of a second on every machine. */
const ticksPerSecond = 100;

async function readStat(pid: number): Promise<Stat | undefined> {
  const text = await readText(`/proc/${pid}/stat`);
  // The fields begin after the name, which may contain blanks and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]));
  if (parent === undefined || Number.isNaN(parent)) return undefined;
  return {
    parent,
    ownSeconds: ((user ?? 0) + (system ?? 0)) / ticksPerSecond,
    endedSeconds: ((endedUser ?? 0) + (endedSystem ?? 0)) / ticksPerSecond,
  };
}

async function readStats(): Promise<{ readonly pid: number; readonly stat: Stat | undefined }[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  return Promise.all(pids.map(async (pid) => ({ pid, stat: await readStat(pid) })));
}

function memoryOf(status: string): Pick<Usage, "peakMegabytes" | "residentMegabytes"> {
  const megabytes = (line: RegExp) => Number(line.exec(status)?.[1] ?? 0) / 1024;
  return { peakMegabytes: megabytes(/^VmHWM:\s+(\d+) kB/m), residentMegabytes: megabytes(/^VmRSS:\s+(\d+) kB/m) };
}

/** Does work; returns the peak of the memory of a process and those that it has started, in MiB. What they share counts once. */
export async function peakOfAll(pid: number, work: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  let isOver = false;
  const watch = (async () => {
    for (; !isOver; await sleep(sampleEveryMs)) peak = Math.max(peak, await memoryOfAll(pid));
  })();
  await work();
  isOver = true;
  await watch;
  return peak;
}

const sampleEveryMs = 200;

async function memoryOfAll(root: number): Promise<number> {
  const stats = await readStats();
  const parents = new Map(stats.map(({ pid, stat }) => [pid, stat?.parent]));
  const isOurs = (pid: number | undefined): boolean => pid === root || (pid !== undefined && isOurs(parents.get(pid)));
  const ours = stats.filter(({ pid }) => isOurs(pid));
  const texts = await Promise.all(ours.map(({ pid }) => readText(`/proc/${pid}/smaps_rollup`)));
  return texts.reduce((sum, text) => sum + Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024, 0);
}

function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
