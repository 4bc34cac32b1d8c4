// Runs under every Node that can report its own version as too old: no syntax newer than Node 14.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * Files that no process of the platform reads: maps and sources of compiled code, pages for developers, fonts in the older
 * of two formats.
 */
const unread = /\.map$|(?<!\.d)\.[cm]?ts$|^(?:readme|changelog|history)\b.*\.md$|\.woff$/i;

/** Folders and files of single packages: headers for compilers, and the same program in other forms. */
const unreadOf = [
  { name: /^node-(?:linux|darwin)-/, path: ["include"] },
  { name: /^@hyzyla\/pdfium$/, path: ["dist", /\.wasm\.base64-/] },
  // Of 50 MB the gateway serves one file; the first module stays, by which it is found.
  { name: /^@scalar\/api-reference$/, path: ["dist", /^(?!browser$|index\.js$)/] },
  { name: /^@scalar\/api-reference$/, path: ["dist", "browser", /^(?!standalone\.js$)/] },
];

/**
 * Removes from installed packages what is not read. The store of the package manager keeps its own links to these files.
 *
 * @param {string} store the folder in which the package manager keeps the packages of a clone
 */
export function trimPackages(store) {
  for (const entry of readdirSync(store)) {
    const folder = join(store, entry, "node_modules");
    if (!existsSync(folder)) continue;
    for (const name of packagesIn(folder)) {
      removeUnread(join(folder, name));
      for (const { path } of unreadOf.filter((one) => one.name.test(name))) removeAt(join(folder, name), path);
    }
  }
}

/**
 * The packages in a folder, without links to packages of other folders.
 *
 * @param {string} folder
 * @returns {string[]}
 */
function packagesIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return entries.flatMap(({ name }) =>
    name.startsWith("@") ? packagesIn(join(folder, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}

/** @param {string} folder */
function removeUnread(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeUnread(path);
    else if (unread.test(entry.name)) rmSync(path);
  }
}

/**
 * @param {string} folder
 * @param {readonly (string | RegExp)[]} path
 */
function removeAt(folder, [step, ...others]) {
  if (step === undefined || !existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (typeof step === "string" ? name !== step : !step.test(name)) continue;
    if (others.length > 0) removeAt(join(folder, name), others);
    else rmSync(join(folder, name), { recursive: true });
  }
}
