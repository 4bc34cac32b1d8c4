// Fetches the package manager, and makes sure that it is the one that this project names, before any of it runs.
// Runs under every Node that can report its own version as too old: no syntax newer than Node 14.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runStep } from "./run-step.mjs";

const version = "12.21.0";

/** What npm calls the integrity of the packages: a hash of all their content. The first holds no program of its own. */
const hashes = new Map([
  ["pnpm", "sha512-Zv2CeO4ok1zpUXktNDZ/869cQyonVkRYIwKVM4NbjaUpu+C+UTCv1W7QcT+4eJ5Hutgtk71a4v5UsVVi1idu8A=="],
  [
    "@pnpm/exe.linux-x64",
    "sha512-8eufCjHXspKbNS/kh8q4Q0gqJoOuvC4Q5pgos6XS8By/nAMtP+jf8F1Cw9er840kfAX+PJ/ts+A9qnLE91rvXQ==",
  ],
  [
    "@pnpm/exe.linux-arm64",
    "sha512-4Oj/iF2TDCe2lcH0n4TupPR5sSdrNLclJB6xBElLMPCUOAvBhdf2rRlSaO5M4erJ6g4Fyy7YTXTpcmfFsKyxEA==",
  ],
]);

/** What an install depends on. */
export const pnpm = `pnpm@${version}`;

/**
 * Returns the program, for Node to run, and the folder that holds nothing else. npm compares each package with the hash that the registry names, and writes that
 * down; here it is compared with the hash of this project. Until then no script of a package runs.
 *
 * @param {{ root: string, env: NodeJS.ProcessEnv, onStart: (pid: number) => void }} options
 * @returns {Promise<{ ok: true, folder: string, program: string, remark: string } | { ok: false, output: string }>}
 */
export async function fetchPnpm({ root, env, onStart }) {
  // Outside node_modules, which an install may remove.
  const folder = join(root, ".tessera", "pnpm");
  const lock = join(folder, "node_modules", ".package-lock.json");
  const program = join(folder, "node_modules", "pnpm", "bin", "pnpm.mjs");
  if (compareHashes(read(lock)).isFetched !== true) {
    mkdirSync(folder, { recursive: true });
    // Its errors are needed whatever the caller wants to hear, and without a network it says so within seconds.
    const patience = [
      "--loglevel=error",
      "--fetch-retries=3",
      "--fetch-retry-mintimeout=1000",
      "--fetch-retry-factor=2",
    ];
    const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--no-save", ...patience];
    const fetched = await runStep({
      title: "fetching pnpm",
      command: "npm",
      args: ["install", "--prefix", folder, ...options, pnpm],
      cwd: folder,
      env,
      limitSeconds: 600,
      onStart,
    });
    if (!fetched.ok) return { ok: false, output: fetched.output };
  }
  const { isFetched, problem, remark } = compareHashes(read(lock));
  return isFetched ? { ok: true, folder, program, remark } : { ok: false, output: problem };
}

/**
 * Compares what npm has installed with what the project names.
 *
 * @param {string | undefined} lock what npm wrote down
 * @returns {{ isFetched: boolean, problem: string, remark: string }}
 */
export function compareHashes(lock) {
  const tree = /** @type {{ packages: Record<string, { version: string, integrity?: string }> }} */ (
    lock === undefined ? { packages: {} } : JSON.parse(lock)
  );
  const installed = Object.entries(tree.packages).map(([path, { version: found, integrity }]) => ({
    name: path.replace(/^.*node_modules\//, ""),
    found,
    integrity,
  }));
  const none = { isFetched: false, problem: "npm installed no pnpm", remark: "" };
  if (!installed.some(({ name }) => name === "pnpm")) return none;
  const wrong = installed.filter(
    ({ name, found, integrity }) =>
      found !== version || (hashes.has(name) ? hashes.get(name) !== integrity : !name.startsWith("@pnpm/exe.")),
  );
  const [first] = wrong;
  if (first !== undefined) {
    const problem = `${first.name} ${first.found} is not the package that this project names: the registry, or what is between, delivers another one`;
    return { ...none, problem };
  }
  const unknown = installed.filter(({ name }) => !hashes.has(name)).map(({ name }) => name);
  const remark = unknown.length === 0 ? "" : `${unknown.join(", ")}: this project names no hash for it`;
  return { isFetched: true, problem: "", remark };
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
