// Prepares a clone: installs its packages, builds the pages, and, with --build=FOLDER, compiles a package with its references.
// Each only after a change. With --without-tools it installs what the platform needs to be compiled and to run, and no tools of developers.
// Runs under every Node that can report its own version as too old: no syntax newer than Node 14, no dependency.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fetchPnpm, pnpm } from "./fetch-pnpm.mjs";
import { endStepsOnSignal, runStep } from "./run-step.mjs";

const neededNode = 24;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const state = join(root, "node_modules", ".cache", "tessera");
const installed = join(state, "installed");
const binaries = join(root, "node_modules", ".bin");
const pages = join(root, "packages", "pages");
const pagesBuilt = join(pages, "dist", "inputs.sha256");
/** The compiler, and what the command imports when it runs. */
const platformAlone = ["--prod", "--filter=tessera", "--filter-prod=@tessera/cli..."];
const packagedNode = join(binaries, "node");
const ownNode = Number(process.versions.node.split(".")[0]);
const withTools = !process.argv.includes("--without-tools");

if (ownNode < 20) {
  fail(
    `Tessera needs Node 20 or newer to set itself up and this is ${process.version}: install Node ${neededNode} and run the same command again.`,
  );
}
endStepsOnSignal();
try {
  const build = process.argv.find((argument) => argument.startsWith("--build="));
  await prepare(build === undefined ? undefined : build.slice("--build=".length));
} catch (error) {
  const { code, path, message } = /** @type {NodeJS.ErrnoException} */ (error);
  if (code === "EACCES" || code === "EROFS" || code === "EPERM") {
    fail(`The clone has to be set up first and ${path} cannot be written: run this as the user who owns ${root}.`);
  }
  if (code === "ENOSPC") fail("The disk is full: make room and run the same command again.");
  fail(`The clone could not be set up: ${message}`);
}

/** @param {string | undefined} entry */
async function prepare(entry) {
  if (isInstalled() && (entry === undefined || (await isBuilt(entry))) && hasPages()) return;
  const release = await lock();
  try {
    if (!isInstalled()) await install();
    if (entry !== undefined && !(await isBuilt(entry))) await build(entry);
    if (!hasPages()) await buildPages();
  } finally {
    release();
  }
}

/** Waits until no other process sets up this clone. A lock whose process has ended is taken over. */
async function lock() {
  // Outside node_modules, which an install may remove.
  const path = join(root, ".tessera", "lock");
  mkdirSync(dirname(path), { recursive: true });
  for (let isFirst = true; ; isFirst = false) {
    try {
      writeFileSync(path, String(process.pid), { flag: "wx" });
      const release = () => rmSync(path, { force: true });
      process.on("exit", release);
      return release;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    }
    const holder = read(path);
    if (holder !== undefined && !isRunning(Number(holder))) rmSync(path, { force: true });
    else if (isFirst) print("waiting for another command that sets up this clone…");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** @param {number} pid 0: it is being written */
function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

async function install() {
  const fingerprint = hashOfInstall();
  // Tools that are there stay, and are kept up to date.
  const all = withTools || hasTools();
  rmSync(installed, { force: true });
  const fetched = await fetchPnpm(root);
  if (!fetched.ok) fail(`${adviceOnInstall(fetched.output)} Then run the same command again.`, fetched.output);
  const result = await runStep({
    title: "installing",
    command: process.execPath,
    // Developers examine the age of every package in the lock file again; to start the platform, that would take longer than
    // all downloads. Contents are compared with their hashes in any case.
    args: [
      fetched.program,
      "install",
      "--frozen-lockfile",
      ...(all ? [] : [...platformAlone, "--config.trustLockfile=true"]),
    ],
    cwd: root,
    // Keeps pnpm from asking before it removes something.
    env: { ...process.env, CI: "true" },
    limitSeconds: 1800,
  });
  if (!result.ok) fail(`${adviceOnInstall(result.output)} Then run the same command again.`, result.output);
  await provideNode();
  mkdirSync(state, { recursive: true });
  writeFileSync(installed, `${fingerprint} ${all ? "with tools" : "without tools"}`);
  print(`installed in ${Math.ceil(result.seconds)} s`);
}

/** @param {string} entry */
async function build(entry) {
  const result = await compile(entry);
  if (!result.ok)
    fail("The sources do not compile: correct the lines above and run the same command again.", result.output);
  print(`built in ${Math.ceil(result.seconds)} s`);
}

/** @param {string} entry */
async function isBuilt(entry) {
  return !(await compile(entry, "--dry")).output.includes("would build");
}

/** Writes the pages that the gateway serves, and the hash of what they were made of beside them. */
async function buildPages() {
  const inputs = hashOfPages();
  let seconds = 0;
  for (const page of ["scan", "board"]) {
    const result = await runStep({
      title: "building pages",
      command: join(binaries, "vite"),
      args: ["build", "--mode", page],
      cwd: pages,
      limitSeconds: 300,
    });
    if (!result.ok)
      fail("The pages cannot be built: correct the lines above and run the same command again.", result.output);
    seconds += result.seconds;
  }
  writeFileSync(pagesBuilt, inputs);
  print(`built the pages in ${Math.ceil(seconds)} s`);
}

function hasPages() {
  return read(pagesBuilt) === hashOfPages();
}

/** A hash of all inputs of the pages. */
function hashOfPages() {
  const hash = createHash("sha256").update(read(join(root, "pnpm-lock.yaml")) || "");
  const parts = ["admission", "values"].map((name) => join(root, "packages", name, "src"));
  for (const folder of [pages, ...parts]) {
    for (const path of filesOf(folder)) hash.update(`${path.slice(root.length)}\n`).update(read(path) || "");
  }
  return hash.digest("hex");
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== "dist" && name !== "node_modules" && !/\.test\.tsx?$|\.md$/.test(name))
    .flatMap((entry) => (entry.isDirectory() ? filesOf(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}

/**
 * Without the tools of developers nothing is tested, and types are not either: it takes half the time.
 * @param {string} entry
 * @param {string[]} options
 */
function compile(entry, ...options) {
  const args = ["-b", entry, ...options, ...(hasTools() ? [] : ["--noCheck"])];
  return runStep({ title: "building", command: join(binaries, "tsc"), args, cwd: root, limitSeconds: 600 });
}

function isInstalled() {
  const present = existsSync(packagedNode) && existsSync(join(binaries, "tsc")) && (hasTools() || !withTools);
  return present && (read(installed) || "").startsWith(`${hashOfInstall()} `);
}

function hasTools() {
  return (read(installed) || "").endsWith(" with tools");
}

/** A hash of all inputs of an install. */
function hashOfInstall() {
  const hash = createHash("sha256").update(`${pnpm} ${process.platform} ${process.arch}\n`);
  const manifests = workspaces().map((folder) => join(folder, "package.json"));
  for (const path of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...manifests]) {
    hash.update(`${path}\n`).update(read(join(root, path)) || "");
  }
  return hash.digest("hex");
}

/** The folders that pnpm-workspace.yaml names; its patterns are names or `folder/*`. */
function workspaces() {
  const [, list = ""] = /^packages:\n((?: +- .*\n)+)/m.exec(read(join(root, "pnpm-workspace.yaml")) || "") || [];
  const patterns = [...list.matchAll(/- +['"]?([^'"\s]+)/g)].map((match) => String(match[1]));
  const folders = patterns.flatMap((pattern) => {
    if (!pattern.endsWith("/*")) return [pattern];
    const parent = pattern.slice(0, -2);
    return existsSync(join(root, parent)) ? readdirSync(join(root, parent)).map((name) => join(parent, name)) : [];
  });
  return folders.filter((folder) => existsSync(join(root, folder, "package.json"))).sort();
}

/**
 * Provides node_modules/.bin/node: the packaged Node, or the one of this process if the packaged one does not run here.
 */
async function provideNode() {
  const runs =
    existsSync(packagedNode) &&
    (await runStep({ title: "checking Node", command: packagedNode, args: ["--version"], cwd: root, limitSeconds: 30 }))
      .ok;
  if (runs) return;
  if (ownNode < neededNode) {
    fail(
      `There is no packaged Node ${neededNode} for ${process.platform} on ${process.arch} and this is ${process.version}: install Node ${neededNode} and run the same command again.`,
    );
  }
  rmSync(packagedNode, { force: true });
  symlinkSync(process.execPath, packagedNode);
}

/** @param {string} output */
function adviceOnInstall(output) {
  if (/ERR_PNPM_(OUTDATED_LOCKFILE|FROZEN_LOCKFILE)/.test(output)) {
    return `pnpm-lock.yaml does not fit the package.json files: run "npm run pnpm install".`;
  }
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_PNPM_META_FETCH_FAIL|ERR_SOCKET/.test(output)
  ) {
    return "The package registry cannot be reached: check the network and npm's registry and proxy settings.";
  }
  if (/ENOSPC/.test(output)) return "The disk is full: make room.";
  if (/npm cannot be run/.test(output)) return "npm, which comes with Node, is not on the PATH: install npm.";
  if (/is not the package of this project/.test(output)) return "Check npm's registry and proxy settings.";
  return "The packages could not be installed: the lines above say why.";
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** @param {string} line */
function print(line) {
  if (process.stderr.isTTY) process.stderr.write(`${line}\n`);
}

/**
 * @param {string} sentence
 * @param {string} [output]
 * @returns {never}
 */
function fail(sentence, output = "") {
  if (output !== "") process.stderr.write(`${output}\n\n`);
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
