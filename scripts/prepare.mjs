// Prepares a clone: installs its packages and, with --build=FOLDER, compiles a package with its references. Both only after
// a change. With --without-tools it installs what the platform needs to be compiled and to run, and no tools of developers.
// Runs under every Node that can report its own version as too old: no syntax newer than Node 14, no dependency.
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { dropUnreadFiles } from "./drop-unread-files.mjs";
import { fetchPnpm, pnpm } from "./fetch-pnpm.mjs";
import { chooseVariables } from "./install-environment.mjs";
import { withLock } from "./prepare-lock.mjs";
import { endStepsOnSignal, runStep } from "./run-step.mjs";

const neededNode = 24;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const state = join(root, "node_modules", ".cache", "tessera");
const installed = join(state, "installed");
const binaries = join(root, "node_modules", ".bin");
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
  const isReady = () => isInstalled() && (entry === undefined || isBuilt(entry));
  if (isReady()) return;
  const onWait = () => {
    if (process.stderr.isTTY) process.stderr.write("waiting for another command that sets up this clone…\n");
  };
  // Outside node_modules, which an install may remove.
  await withLock(
    join(root, ".tessera", "preparing"),
    async (lock) => {
      if (!isInstalled()) await install(lock.runs);
      if (entry !== undefined && !isBuilt(entry)) await build(entry, lock.runs);
    },
    { onWait },
  );
}

/** @param {(pid: number) => void} onStart */
async function install(onStart) {
  const fingerprint = hashOfInstall();
  // Tools that are there stay, and are kept up to date.
  const all = withTools || hasTools();
  rmSync(installed, { force: true });
  const env = installEnvironment();
  const fetched = await fetchPnpm({ root, env, onStart });
  if (!fetched.ok) fail(`${adviceOnInstall(fetched.output)} Then run the same command again.`, fetched.output);
  if (fetched.remark !== "") print(fetched.remark);
  const result = await runStep({
    title: "installing",
    command: process.execPath,
    args: [fetched.program, "install", "--frozen-lockfile", ...(all ? [] : platformAlone)],
    cwd: root,
    env,
    limitSeconds: 1800,
    onStart,
  });
  if (!result.ok) {
    fail(`${adviceOnInstall(result.output)} Then run the same command again.`, result.output);
  }
  await provideNode();
  if (!all) dropUnreadFiles(join(root, "node_modules", ".pnpm"), { compiles: true });
  mkdirSync(state, { recursive: true });
  writeFileSync(installed, `${fingerprint} ${all ? "with tools" : "without tools"}`);
  print(`installed in ${Math.ceil(result.seconds)} s`);
}

/**
 * @param {string} entry
 * @param {(pid: number) => void} onStart
 */
async function build(entry, onStart) {
  const fingerprint = hashOfSources(compiledFolders(entry));
  const command = join(binaries, "tsc");
  const result = await runStep({
    title: "building",
    command,
    args: ["-b", entry],
    cwd: root,
    limitSeconds: 600,
    onStart,
  });
  if (!result.ok)
    fail("The sources do not compile: correct the lines above and run the same command again.", result.output);
  writeFileSync(recordOfBuild(entry), fingerprint);
  print(`built in ${Math.ceil(result.seconds)} s`);
}

function isInstalled() {
  const present = existsSync(packagedNode) && existsSync(join(binaries, "tsc")) && (hasTools() || !withTools);
  return present && (read(installed) || "").startsWith(`${hashOfInstall()} `);
}

function hasTools() {
  return (read(installed) || "").endsWith(" with tools");
}

/** @param {string} entry */
function recordOfBuild(entry) {
  return join(state, `built-${entry.replace("/", "-")}`);
}

/** @param {string} entry */
function isBuilt(entry) {
  const folders = compiledFolders(entry);
  return (
    folders.every((folder) => existsSync(join(folder, "dist", ".tsbuildinfo"))) &&
    read(recordOfBuild(entry)) === hashOfSources(folders)
  );
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

/**
 * A hash of names, sizes and times of all sources. The compiler compares contents, so a needless run costs little.
 *
 * @param {readonly string[]} folders
 */
function hashOfSources(folders) {
  const hash = createHash("sha256").update(read(installed) || "");
  const add = (/** @type {string} */ path) => {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  };
  const walk = (/** @type {string} */ folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== "node_modules" && entry.name !== "dist") walk(path);
      } else if (/\.ts$|^tsconfig\.json$/.test(entry.name) && !entry.name.endsWith(".test.ts")) {
        add(path);
      }
    }
  };
  add(join(root, "tsconfig.base.json"));
  for (const folder of folders) walk(folder);
  return hash.digest("hex");
}

/**
 * The folder of a package and all its direct and indirect references: no others must be compiled to run it.
 *
 * @param {string} entry
 */
function compiledFolders(entry) {
  const folders = new Set([join(root, entry)]);
  for (const folder of folders) {
    const config = read(join(folder, "tsconfig.json")) || "";
    for (const [, path = ""] of config.matchAll(/"path": *"([^"]+)"/g)) folders.add(join(folder, path));
  }
  return [...folders].sort();
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

function installEnvironment() {
  const env = chooseVariables(process.env);
  if (isWritable(homedir())) return env;
  const home = join(root, ".tessera", "home");
  mkdirSync(home, { recursive: true });
  const settings = join(homedir(), ".npmrc");
  if (env["npm_config_userconfig"] === undefined && existsSync(settings)) env["npm_config_userconfig"] = settings;
  // npm run has set some of these to paths in the home folder, which cannot be written.
  for (const [name, value] of Object.entries(env)) {
    if (/^(npm_config_cache|npm_config_prefix|xdg_.*_home|pnpm_home)$/i.test(name) && !isWritable(String(value)))
      delete env[name];
  }
  env["HOME"] = home;
  return env;
}

/** @param {string} folder */
function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
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
  if (/that this project names/.test(output)) return "Check npm's registry and proxy settings.";
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
