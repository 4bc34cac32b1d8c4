// Deletes from a deployed package what no process reads: packages behind a finished bundle, and files for developers.
//   node scripts/drop-unused-files.mjs FOLDER
// Runs under every Node that prepares a clone.
import { existsSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";

/** Of these one file is read, which holds all that they depend on. */
const bundles = ["@scalar/api-reference"];

/** Source maps, declarations, and fonts in a form or a weight that no ticket has. */
const unused = /\.(?:map|d\.[cm]?ts|woff|ttf\.png)$|\/(?:100|200|300|500|600|800|900)[A-Z][A-Za-z_]*\/[^/]+\.ttf$/;

const folder = process.argv[2] ?? "";
const modules = join(folder, "node_modules");
const store = join(modules, ".pnpm");
if (!existsSync(store)) {
  process.stderr.write(`there is no ${store}: name a folder that pnpm has deployed\n`);
  process.exit(2);
}

const reached = new Set();
reach(modules);
for (const entry of readdirSync(store, { withFileTypes: true })) {
  if (entry.isDirectory() && entry.name !== "node_modules" && !reached.has(entry.name)) {
    rmSync(join(store, entry.name), { recursive: true });
  }
}
dropFiles(folder);

/** @param {string} path */
function dropFiles(path) {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) dropFiles(join(path, entry.name));
    else if (entry.isFile() && unused.test(join(path, entry.name))) rmSync(join(path, entry.name));
  }
}

/**
 * Follows the links of a folder of packages to the packages that they lead to, and their own.
 *
 * @param {string} packages
 */
function reach(packages) {
  for (const link of linksIn(packages)) {
    const target = resolve(dirname(link), readlinkSync(link));
    const entry = target.slice(store.length + 1).split(sep)[0] ?? "";
    if (!target.startsWith(`${resolve(store)}${sep}`) || reached.has(entry)) continue;
    reached.add(entry);
    const name = target.slice(join(store, entry, "node_modules").length + 1);
    if (!bundles.includes(name.split(sep).join("/"))) reach(join(store, entry, "node_modules"));
  }
}

/**
 * @param {string} packages
 * @returns {string[]}
 */
function linksIn(packages) {
  // A package may have been left out.
  if (!existsSync(packages)) return [];
  return readdirSync(packages, { withFileTypes: true }).flatMap((entry) => {
    const path = join(packages, entry.name);
    if (entry.isSymbolicLink()) return [path];
    const isScope = entry.isDirectory() && entry.name.startsWith("@") && basename(packages) === "node_modules";
    return isScope ? linksIn(path) : [];
  });
}
