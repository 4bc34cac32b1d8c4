import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";

const script = fileURLToPath(new URL("drop-unused-files.mjs", import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tessera-deployed-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** A package in the store of pnpm, with its files and the names of what it depends on. */
async function store(name: string, files: readonly string[], dependencies: readonly string[] = []): Promise<void> {
  const packages = join(folder, "node_modules/.pnpm", name.replace("/", "+"), "node_modules");
  for (const file of files) {
    await mkdir(dirname(join(packages, name, file)), { recursive: true });
    await writeFile(join(packages, name, file), "");
  }
  for (const dependency of dependencies) {
    await mkdir(dirname(join(packages, dependency)), { recursive: true });
    await symlink(
      join(folder, "node_modules/.pnpm", dependency.replace("/", "+"), "node_modules", dependency),
      join(packages, dependency),
    );
  }
}

it("keeps what processes read, and drops what is behind a bundle", async () => {
  await store("server", ["index.js", "index.js.map", "index.d.ts"], ["shared", "@scalar/api-reference", "left-out"]);
  await store("shared", ["index.cjs", "700Bold/Sans_700Bold.ttf", "500Medium/Sans_500Medium.ttf", "sans.woff"]);
  await store("@scalar/api-reference", ["standalone.js"], ["shared", "icons"]);
  await store("icons", ["index.js"], ["more-icons"]);
  await store("more-icons", ["index.js"]);
  await symlink(join(folder, "node_modules/.pnpm/server/node_modules/server"), join(folder, "node_modules/server"));
  expect(spawnSync(process.execPath, [script, folder]).status).toBe(0);
  const kept = await readdir(join(folder, "node_modules/.pnpm"), { recursive: true, withFileTypes: true });
  expect(
    kept
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["Sans_700Bold.ttf", "index.cjs", "index.js", "standalone.js"]);
});

it("refuses a folder that is not deployed", () => {
  const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: "utf8" });
  expect([status, stderr]).toEqual([2, expect.stringContaining("name a folder that pnpm has deployed")]);
});
