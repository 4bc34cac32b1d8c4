import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { logFileNames, openLogFile } from "./log-file.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-log-"));
});
afterEach(() => rm(directory, { recursive: true }));

it("a log file never grows beyond its size, and the oldest ones are deleted", async () => {
  const file = join(directory, "tessera.log");
  await writeFile(file, "a line of an earlier run\n");
  const log = await openLogFile(file, { size: "1K" });
  const lines = Array.from({ length: 200 }, (_, number) => `${`line ${number} `.padEnd(99, ".")}\n`);
  for (const [index, line] of lines.entries()) {
    log.write(line);
    if (index % 10 === 9) await log.written();
  }
  await log.written();
  const names = (await readdir(directory)).sort();
  expect(names).toEqual(logFileNames("tessera.log"));
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
  for (const text of texts) expect(text.length).toBeLessThan(3000);
  const [newest = "", ...older] = texts;
  const kept = [...older.reverse(), newest].join("");
  expect(kept).toBe(lines.join("").slice(-kept.length));
  expect(kept.length).toBeGreaterThan(5000);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it("lines are written again when the cause of a failure is gone", async () => {
  const folder = join(directory, "gone");
  await mkdir(folder);
  const file = join(folder, "tessera.log");
  const log = await openLogFile(file, { size: "1K", retryMs: 20 });
  log.write("before\n");
  await log.written();
  await rm(folder, { recursive: true });
  await writeFile(folder, "in its way");
  // Now it is full, and cannot be renamed.
  log.write(`${"x".repeat(2000)}\n`);
  await log.written();
  log.write("dropped\n");
  await rm(folder);
  await mkdir(folder);
  await sleep(40);
  log.write("after\n");
  await log.written();
  expect(await readFile(file, "utf8")).toBe("\nafter\n");
});

it("what is no file is written to as it is", async () => {
  const log = await openLogFile("/dev/null");
  log.write("a line\n");
  await expect(log.written()).resolves.toBeUndefined();
});
