// Deletes from installed packages what no process of the platform reads.
//   node scripts/drop-unread-files.mjs FOLDER    what `pnpm deploy` has made in this folder, where nothing is compiled
// Runs under every Node that can report its own version as too old: no syntax newer than Node 14.
import { existsSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Maps and sources of compiled code, pages for developers, fonts in the older of two formats. */
const unread = /\.map$|(?<!\.d)\.[cm]?ts$|^(?:readme|changelog|history)\b.*\.md$|\.woff$/i;

/** What only a compiler reads, and fonts in a form or a weight that no ticket has. */
const unreadBesidesCompiling = /\.d\.[cm]?ts$|\.ttf\.png$|_(?:100|200|300|500|600|800|900)[A-Z][A-Za-z_]*\.ttf$/;

/** Folders and files of single packages: headers for compilers, and the same program in other forms. */
const unreadOf = [
  { name: /^node-(?:linux|darwin)-/, path: ["include"] },
  { name: /^@hyzyla\/pdfium$/, path: ["dist", /\.wasm\.base64-/] },
  // Of 50 MB the gateway serves one file; the first module stays, by which it is found.
  { name: /^@scalar\/api-reference$/, path: ["dist", /^(?!browser$|index\.js$)/] },
  { name: /^@scalar\/api-reference$/, path: ["dist", "browser", /^(?!standalone\.js$)/] },
];

/** Of these one file is read, which holds all that they depend on. */
const bundles = ["@scalar/api-reference"];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] || "";
  if (!existsSync(join(folder, "node_modules", ".pnpm"))) {
    process.stderr.write(
      `there is no ${join(folder, "node_modules", ".pnpm")}: name a folder that pnpm has deployed\n`,
    );
    process.exit(2);
  }
  dropUnreached(join(folder, "node_modules"));
  dropUnreadFiles(join(folder, "node_modules", ".pnpm"), { compiles: false });
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name !== "node_modules")
      removeUnread(join(folder, entry.name), [unread, unreadBesidesCompiling]);
  }
}

/**
 * Removes from installed packages the files that are not read. The store of the package manager keeps its own links to them.
 *
 * @param {string} store the folder in which the package manager keeps the packages
 * @param {{ readonly compiles: boolean }} options whether a compiler reads them too
 */
export function dropUnreadFiles(store, { compiles }) {
  const patterns = compiles ? [unread] : [unread, unreadBesidesCompiling];
  for (const entry of readdirSync(store)) {
    const folder = join(store, entry, "node_modules");
    if (!existsSync(folder)) continue;
    for (const name of packagesIn(folder)) {
      removeUnread(join(folder, name), patterns);
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

/**
 * @param {string} folder
 * @param {readonly RegExp[]} patterns
 */
function removeUnread(folder, patterns) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeUnread(path, patterns);
    else if (entry.isFile() && patterns.some((pattern) => pattern.test(entry.name))) rmSync(path);
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

/**
 * Removes the packages that nothing leads to but a bundle, which holds them.
 *
 * @param {string} modules
 */
function dropUnreached(modules) {
  const store = resolve(modules, ".pnpm");
  /** @type {Set<string>} */
  const reached = new Set();

  /** @param {string} packages follows the links of a folder of packages to the packages that they lead to, and their own */
  function reach(packages) {
    for (const link of linksIn(packages)) {
      const target = resolve(dirname(link), readlinkSync(link));
      const entry = target.slice(store.length + 1).split(sep)[0] || "";
      if (!target.startsWith(store + sep) || reached.has(entry)) continue;
      reached.add(entry);
      const name = target.slice(join(store, entry, "node_modules").length + 1);
      if (!bundles.includes(name.split(sep).join("/"))) reach(join(store, entry, "node_modules"));
    }
  }

  reach(modules);
  for (const entry of readdirSync(store, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name !== "node_modules" && !reached.has(entry.name)) {
      rmSync(join(store, entry.name), { recursive: true });
    }
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
