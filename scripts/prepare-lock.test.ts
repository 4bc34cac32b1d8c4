import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** Takes the lock, writes who is inside and who leaves to a log, and stays as long as it is told. */
const program = `
  import { appendFileSync } from "node:fs";
  import { withLock } from ${JSON.stringify(new URL("./prepare-lock.mjs", import.meta.url).href)};
  const [, lock, log, milliseconds, runs] = process.argv;
  await withLock(lock, async (held) => {
    if (runs !== undefined) held.runs(Number(runs));
    appendFileSync(log, "in " + process.pid + "\\n");
    await new Promise((resolve) => setTimeout(resolve, Number(milliseconds)));
    appendFileSync(log, "out " + process.pid + "\\n");
  });
`;

let folder: string;
let started: ChildProcess[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tessera-lock-"));
  started = [];
  await writeFile(join(folder, "log"), "");
});

afterEach(async () => {
  for (const child of started) child.kill("SIGKILL");
  await rm(folder, { recursive: true });
});

function start(options: { milliseconds: number; runs?: number }): ChildProcess {
  const args = [join(folder, "lock"), join(folder, "log"), String(options.milliseconds)];
  if (options.runs !== undefined) args.push(String(options.runs));
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program, ...args], { stdio: "inherit" });
  started.push(child);
  return child;
}

async function readLog(): Promise<string[]> {
  return (await readFile(join(folder, "log"), "utf8")).split("\n").slice(0, -1);
}

async function untilInside(count: number): Promise<void> {
  await expect
    .poll(async () => (await readLog()).filter((line) => line.startsWith("in")).length, { timeout: 8000 })
    .toBe(count);
}

async function exitCodes(children: readonly ChildProcess[]): Promise<number[]> {
  return Promise.all(children.map(async (child) => (child.exitCode ?? (await once(child, "exit"))[0]) as number));
}

/** Every "in" is followed by its own "out". */
function expectTurns(log: readonly string[], count: number): void {
  expect(log).toHaveLength(2 * count);
  for (let at = 0; at < log.length; at += 2) expect(log[at + 1]).toBe(log[at]?.replace("in", "out"));
}

describe("withLock", () => {
  it("lets eight processes in one after the other", async () => {
    const children = Array.from({ length: 8 }, () => start({ milliseconds: 30 }));
    expect(await exitCodes(children)).toEqual(Array.from({ length: 8 }, () => 0));
    expectTurns(await readLog(), 8);
  });

  it("gives the lock of a killed process to one of those who wait", async () => {
    const holder = start({ milliseconds: 60_000 });
    await untilInside(1);
    const waiting = Array.from({ length: 4 }, () => start({ milliseconds: 30 }));
    await sleep(300);
    expect(await readLog()).toHaveLength(1);
    holder.kill("SIGKILL");
    expect(await exitCodes(waiting)).toEqual([0, 0, 0, 0]);
    expectTurns((await readLog()).slice(1), 4);
  });

  it("waits for the command that a killed process has left behind", async () => {
    const command = spawn(process.execPath, ["--eval", "setTimeout(() => {}, 60_000)"]);
    started.push(command);
    const holder = start({ milliseconds: 60_000, runs: command.pid ?? 0 });
    await untilInside(1);
    holder.kill("SIGKILL");
    await once(holder, "exit");
    const waiting = start({ milliseconds: 0 });
    await sleep(1000);
    expect(await readLog()).toHaveLength(1);
    command.kill("SIGKILL");
    expect(await exitCodes([waiting])).toEqual([0]);
  });
});
