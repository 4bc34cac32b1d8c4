import { access, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CpuProfile } from "./where-time-goes.ts";

export const sampleEveryMicroseconds = 500;

/** The environment of a process that can be sampled; until then nothing of it costs anything. */
export const sampledEnvironment = {
  NODE_OPTIONS: `--import=${import.meta.resolve("@tessera/dev/bench/sample-on-signal")}`,
};

/** Where a process leaves what was sampled. */
export const profilePathOf = (pid: number) => join(tmpdir(), `tessera-bench-${pid}.cpuprofile`);

/** Where it writes that. */
export const draftPathOf = (pid: number) => `${profilePathOf(pid)}.draft`;

const longestWriteMs = 20_000;

/** Samples what the threads of processes do while something happens, in the order of their ids. */
export async function sampleWhile(pids: readonly number[], work: () => Promise<unknown>): Promise<CpuProfile[]> {
  for (const pid of pids) process.kill(pid, "SIGUSR2");
  await work();
  for (const pid of pids) process.kill(pid, "SIGUSR2");
  return Promise.all(pids.map(takeProfile));
}

async function takeProfile(pid: number): Promise<CpuProfile> {
  const path = profilePathOf(pid);
  for (const until = Date.now() + longestWriteMs; ; await sleep(50)) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) break;
    if (Date.now() > until) throw new Error(`process ${pid} wrote no profile`);
  }
  const profile = JSON.parse(await readFile(path, "utf8")) as CpuProfile;
  await rm(path);
  return profile;
}
