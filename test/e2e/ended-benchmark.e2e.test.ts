import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRunning } from "@tessera/kit/service/running-process";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findDescendants } from "./find-processes.ts";

const main = fileURLToPath(import.meta.resolve("@tessera/dev/main"));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-ended-"));
  await chmod(directory, 0o755);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

// All signals of a stop go the same way.
it("a benchmark leaves no process and no folder behind when a signal ends it", async () => {
  const child = spawn(
    process.execPath,
    ["--conditions=source", "--disable-warning=ExperimentalWarning", main, "bench", "import", "--orders", "200000"],
    { env: { ...process.env, TMPDIR: directory }, stdio: "ignore" },
  );
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const started = () => findDescendants(child.pid ?? 0);
  // The database and the platform run, and orders arrive.
  await expect
    .poll(async () => (await started()).filter(({ args }) => / serve all |^postgres: /.test(args)).length)
    .toBeGreaterThan(8);
  const all = await started();
  const folders = () => readdirSync(directory).filter((name) => name.startsWith("tessera-bench-"));
  expect(folders()).toHaveLength(1);
  expect(all.map(({ args }) => args)).toContainEqual(
    expect.stringContaining(` -D ${join(directory, "tessera-bench-")}`),
  );
  child.kill("SIGTERM");
  await ended;
  const left = () => ({
    processes: all.filter(({ pid, args }) => isRunning(pid) && !args.startsWith("/bin/sh ")).map(({ args }) => args),
    folders: folders(),
  });
  await expect.poll(left).toEqual({ processes: [], folders: [] });
});
