import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dropUnreadFiles } from "./drop-unread-files.mjs";

const script = fileURLToPath(new URL("drop-unread-files.mjs", import.meta.url));

let folder: string;
let store: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tessera-packages-"));
  store = join(folder, "node_modules/.pnpm");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string): string {
  const file = join(store, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  return file;
}

describe("in a clone", () => {
  it("what runs, compiles and licenses stays, and what no process reads goes", () => {
    const one = "one@1.0.0/node_modules/one";
    const kept = ["index.js", "index.d.ts", "LICENSE.md", "font.woff2", "data.json"].map((file) =>
      write(`${one}/${file}`),
    );
    for (const file of ["index.js.map", "index.d.ts.map", "src/index.ts", "README.md", "font.woff"])
      write(`${one}/${file}`);
    dropUnreadFiles(store, { compiles: true });
    expect(kept.filter((file) => !existsSync(file))).toEqual([]);
    expect(readdirSync(join(store, one, "src"))).toEqual([]);
    expect(readdirSync(join(store, one)).toSorted()).toEqual(
      ["LICENSE.md", "data.json", "font.woff2", "index.d.ts", "index.js", "src"].toSorted(),
    );
  });

  it("of the viewer the file stays that is served", () => {
    const viewer = "@scalar+api-reference@1/node_modules/@scalar/api-reference";
    for (const file of ["package.json", "dist/index.js", "dist/other.js", "dist/chunks/a.js"])
      write(`${viewer}/${file}`);
    for (const file of ["standalone.js", "standalone.esm.js", "chunks/a.js"]) write(`${viewer}/dist/browser/${file}`);
    // The same package as another one sees it: not a second copy.
    mkdirSync(join(store, "node_modules"), { recursive: true });
    symlinkSync(join(store, viewer), join(store, "node_modules", "viewer"));
    dropUnreadFiles(store, { compiles: true });
    expect(readdirSync(join(store, viewer)).toSorted()).toEqual(["dist", "package.json"]);
    expect(readdirSync(join(store, viewer, "dist")).toSorted()).toEqual(["browser", "index.js"]);
    expect(readdirSync(join(store, viewer, "dist", "browser"))).toEqual(["standalone.js"]);
  });
});

describe("in a deployed folder", () => {
  /** A package with its files and the names of what it depends on. */
  function add(name: string, files: readonly string[], dependencies: readonly string[] = []): void {
    const packages = join(name.replace("/", "+"), "node_modules");
    for (const file of files) write(join(packages, name, file));
    for (const dependency of dependencies) {
      const link = join(store, packages, dependency);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(store, dependency.replace("/", "+"), "node_modules", dependency), link);
    }
  }

  it("goes what only a compiler reads, fonts that no ticket has, and what is behind a bundle", async () => {
    add("server", ["index.js", "index.js.map", "index.d.ts"], ["shared", "@scalar/api-reference", "left-out"]);
    add("shared", ["index.cjs", "700Bold/Sans_700Bold.ttf", "500Medium/Sans_500Medium.ttf", "sans.woff"]);
    add("@scalar/api-reference", ["dist/browser/standalone.js"], ["shared", "icons"]);
    add("icons", ["index.js"], ["more-icons"]);
    add("more-icons", ["index.js"]);
    symlinkSync(join(store, "server/node_modules/server"), join(folder, "node_modules/server"));
    for (const file of ["../../dist/main.js", "../../dist/main.d.ts", "../../dist/main.js.map"]) write(file);
    expect(spawnSync(process.execPath, [script, folder]).status).toBe(0);
    // The synchronous one follows links.
    const kept = await readdir(store, { recursive: true, withFileTypes: true });
    expect(
      kept
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["Sans_700Bold.ttf", "index.cjs", "index.js", "standalone.js"]);
    expect(readdirSync(join(folder, "dist"))).toEqual(["main.js"]);
  });

  it("refuses a folder that is not deployed", () => {
    const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: "utf8" });
    expect([status, stderr]).toEqual([2, expect.stringContaining("name a folder that pnpm has deployed")]);
  });
});
