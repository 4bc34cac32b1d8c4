import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Licensed } from "./bundled.ts";
import { partsOf } from "./parts-of-packages.ts";

/**
 * Finds the packages of modules, with the texts of their licenses, by name. A package without one throws: what is served holds
 * it, so its license has to go with it.
 */
export function findBundled(modules: Iterable<string>): Licensed[] {
  const folders = new Set<string>();
  for (const id of modules) {
    const folder = packageOf(id);
    if (folder !== undefined) folders.add(folder);
  }
  const found = [...folders].flatMap((folder) => {
    const { name, version, license } = readManifest(folder);
    if (typeof license !== "string") throw new Error(`${name}, which is bundled, names no license`);
    return [{ name, version, license, text: readLicense(folder, name) }, ...partsOf(name)];
  });
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: unknown;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** The folder of the package that a module is of; undefined: it is of this repository. */
function packageOf(id: string): string | undefined {
  // Modules that the bundler makes are named after it, with a mark before.
  const made = /^\0(vite|rolldown)\b/.exec(id)?.[1];
  if (made !== undefined) return folderOfBundler(made);
  const installed = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/@.][^/]*)\//s.exec(id)?.[1];
  if (installed === undefined && id.startsWith("\0")) throw new Error(`${JSON.stringify(id)} is of no known package`);
  return installed;
}

function folderOfBundler(name: string): string {
  const vite = createRequire(import.meta.url).resolve("vite/package.json");
  if (name === "vite") return dirname(vite);
  return dirname(createRequire(vite).resolve(`${name}/package.json`));
}

function readLicense(folder: string, name: string): string {
  const file = readdirSync(folder).find((each) => /^(?:licen[cs]e|copying)(?:[.-].*)?$/i.test(each));
  if (file === undefined) throw new Error(`${name}, which is bundled, has no text of its license`);
  const text = readFileSync(join(folder, file), "utf8").trim();
  if (text === "") throw new Error(`${name}, which is bundled, has an empty text of its license`);
  return text;
}
