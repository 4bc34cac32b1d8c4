import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { trimPackages } from "./trim-packages.mjs";

const store = mkdtempSync(join(tmpdir(), "tessera-trim-"));
afterEach(() => rmSync(store, { recursive: true, force: true }));

function write(path: string): string {
  const file = join(store, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  return file;
}

it("keeps what runs, compiles and licenses, and removes what no process reads", () => {
  const one = "one@1.0.0/node_modules/one";
  const kept = ["index.js", "index.d.ts", "LICENSE.md", "font.woff2", "data.json"].map((file) =>
    write(`${one}/${file}`),
  );
  for (const file of ["index.js.map", "index.d.ts.map", "src/index.ts", "README.md", "font.woff"])
    write(`${one}/${file}`);
  trimPackages(store);
  expect(kept.filter((file) => !existsSync(file))).toEqual([]);
  expect(readdirSync(join(store, one, "src"))).toEqual([]);
  expect(readdirSync(join(store, one)).toSorted()).toEqual(
    ["LICENSE.md", "data.json", "font.woff2", "index.d.ts", "index.js", "src"].toSorted(),
  );
});

it("keeps of the viewer the file that is served", () => {
  const viewer = "@scalar+api-reference@1/node_modules/@scalar/api-reference";
  for (const file of ["package.json", "dist/index.js", "dist/other.js", "dist/chunks/a.js"]) write(`${viewer}/${file}`);
  for (const file of ["standalone.js", "standalone.esm.js", "chunks/a.js"]) write(`${viewer}/dist/browser/${file}`);
  // The same package as another one sees it: not a second copy.
  mkdirSync(join(store, "node_modules"), { recursive: true });
  symlinkSync(join(store, viewer), join(store, "node_modules", "viewer"));
  trimPackages(store);
  expect(readdirSync(join(store, viewer)).toSorted()).toEqual(["dist", "package.json"]);
  expect(readdirSync(join(store, viewer, "dist")).toSorted()).toEqual(["browser", "index.js"]);
  expect(readdirSync(join(store, viewer, "dist", "browser"))).toEqual(["standalone.js"]);
});
