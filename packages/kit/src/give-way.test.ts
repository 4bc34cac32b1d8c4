import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { afterEach, expect, it } from "vitest";
import { giveWay } from "./give-way.ts";

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

/** A process with threads, in a session of its own or in that of this process. */
async function startProgram({ hasSession }: { readonly hasSession: boolean }): Promise<number> {
  const program = `setInterval(() => {}, 1000); console.log("ready")`;
  const child = spawn(process.execPath, ["-e", program], {
    detached: hasSession,
    stdio: ["ignore", "pipe", "ignore"],
  });
  started.push(child);
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return child.pid ?? 0;
}

/** The niceness of each thread; that of the process where threads have none of their own. */
function ofThreads(pid: number): readonly number[] {
  if (process.platform !== "linux") return [getPriority(pid)];
  return readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));
}

/** The niceness of a session; undefined where processors are not shared among sessions. */
function ofSession(pid: number | "self"): number | undefined {
  try {
    const found = /nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, "utf8"));
    return found === null ? undefined : Number(found[1]);
  } catch {
    return undefined;
  }
}

it("a process gives way with all of its threads, and with its session where there is one", async () => {
  const pid = await startProgram({ hasSession: true });
  await giveWay(pid);
  const priorities = ofThreads(pid);
  if (process.platform === "linux") expect(priorities.length).toBeGreaterThan(3);
  expect(new Set(priorities)).toEqual(new Set([7]));
  expect([undefined, 7]).toContain(ofSession(pid));
});

it("a process of our own session gives way without it", async () => {
  const [own, before] = [getPriority(), ofSession("self")];
  const pid = await startProgram({ hasSession: false });
  await giveWay(pid);
  expect(new Set(ofThreads(pid))).toEqual(new Set([7]));
  expect([getPriority(), ofSession("self")]).toEqual([own, before]);
});

it("a process that has ended is no error", async () => {
  const pid = await startProgram({ hasSession: true });
  const ended = new Promise((resolve) => started[0]?.once("exit", resolve));
  process.kill(pid, "SIGKILL");
  await ended;
  await expect(giveWay(pid)).resolves.toBeUndefined();
});
