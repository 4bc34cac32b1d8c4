import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { afterEach, expect, it } from "vitest";
import { giveWay } from "./give-way.ts";

/** Of what gives way. Tests may run with a lower priority than that. */
const given = Math.max(7, getPriority());

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

/** The threads of a process; the process itself where they have no priorities of their own. */
function threadsOf(pid: number): readonly number[] {
  return process.platform === "linux" ? readdirSync(`/proc/${pid}/task`).map(Number) : [pid];
}

function ofThreads(pid: number): readonly number[] {
  return threadsOf(pid).map((thread) => getPriority(thread));
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
  expect(new Set(priorities)).toEqual(new Set([given]));
  expect([undefined, 7]).toContain(ofSession(pid));
});

it("a process of our own session gives way without it", async () => {
  const [own, before] = [getPriority(), ofSession("self")];
  const pid = await startProgram({ hasSession: false });
  await giveWay(pid);
  expect(new Set(ofThreads(pid))).toEqual(new Set([given]));
  expect([getPriority(), ofSession("self")]).toEqual([own, before]);
});

it("what gives way more already stays so", async () => {
  const pid = await startProgram({ hasSession: true });
  for (const thread of threadsOf(pid)) setPriority(thread, 12);
  const before = ofSession(pid);
  if (before !== undefined) writeFileSync(`/proc/${pid}/autogroup`, "12");
  await giveWay(pid);
  expect(new Set(ofThreads(pid))).toEqual(new Set([12]));
  expect(ofSession(pid)).toBe(before === undefined ? undefined : 12);
});

it("a process that has ended is no error", async () => {
  const pid = await startProgram({ hasSession: true });
  const ended = new Promise((resolve) => started[0]?.once("exit", resolve));
  process.kill(pid, "SIGKILL");
  await ended;
  await expect(giveWay(pid)).resolves.toBeUndefined();
});
