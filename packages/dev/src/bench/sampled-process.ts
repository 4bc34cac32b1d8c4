import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { poll } from "@tessera/kit/poll";
import type { CpuProfile } from "./where-time-goes.ts";

export const sampleEveryMicroseconds = 500;

/** The environment of a process that can be sampled; until then nothing of it costs anything. */
export const sampledEnvironment = {
  NODE_OPTIONS: `--import=${import.meta.resolve("@tessera/dev/bench/sample-on-signal")}`,
};

/** Where a process leaves what was sampled. */
export const profilePathOf = (pid: number) => join(tmpdir(), `tessera-bench-${pid}.cpuprofile`);

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
  let profile: CpuProfile | undefined;
  const read = async () => {
    profile = JSON.parse(await readFile(path, "utf8")) as CpuProfile;
    return true;
  };
  await poll(read, { until: Date.now() + longestWriteMs });
  if (profile === undefined) throw new Error(`process ${pid} wrote no profile`);
  await rm(path);
  return profile;
}
