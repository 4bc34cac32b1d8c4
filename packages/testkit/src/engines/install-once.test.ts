import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { installOnce } from "./engine-process.ts";

let engines: string;
beforeEach(async () => {
  engines = await mkdtemp(join(tmpdir(), "tessera-engines-"));
  vi.stubEnv("TESSERA_ENGINES", engines);
});
afterEach(async () => {
  await rm(engines, { recursive: true });
});

it("an engine that many want at once is installed once", async () => {
  let installs = 0;
  const install = async (folder: string) => {
    installs += 1;
    await sleep(50);
    await writeFile(join(folder, "program"), "whole");
  };
  const folders = await Promise.all(Array.from({ length: 5 }, () => installOnce("engine", install)));
  expect(new Set(folders)).toEqual(new Set([join(engines, "engine")]));
  expect(installs).toBe(1);
  expect(await readFile(join(engines, "engine", "program"), "utf8")).toBe("whole");
});

it("an installation that failed, or was killed, is begun again", async () => {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  await mkdir(join(engines, "engine.locks"));
  await writeFile(join(engines, "engine.locks", `lock.${pid}.123-abc.00000000`), "");
  await expect(installOnce("engine", () => Promise.reject(new Error("no network")))).rejects.toThrow("no network");
  expect(await readdir(engines)).toEqual(["engine.locks"]);
  await installOnce("engine", (folder) => writeFile(join(folder, "program"), "whole"));
  expect((await readdir(engines)).sort()).toEqual(["engine", "engine.locks"]);
});
