// Fetches the package manager. Runs under every Node that can report its own version as too old: no syntax newer than Node 14.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runStep } from "./run-step.mjs";

export const pnpm = "pnpm@12.21.0";

/** The packages of pnpm for the platforms that this project runs on, and npm's hashes of their content. */
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

/**
 * Returns the program, for Node to run. npm runs no script of a package, and the content is compared with the hashes above.
 *
 * @param {string} root
 * @returns {Promise<{ ok: true, program: string } | { ok: false, output: string }>}
 */
export async function fetchPnpm(root) {
  // Outside node_modules, which an install may remove.
  const folder = join(root, ".tessera", "pnpm");
  const program = join(folder, "node_modules", "pnpm", "bin", "pnpm.mjs");
  if (findOther(folder) !== undefined) {
    mkdirSync(folder, { recursive: true });
    const fetched = await runStep({
      title: "fetching pnpm",
      command: "npm",
      // Its errors are shown whatever npm is set to, and without a network it says so within seconds.
      args: [
        ..."install --ignore-scripts --no-audit --no-fund --no-package-lock --no-save --loglevel=error".split(" "),
        ..."--fetch-retries=3 --fetch-retry-mintimeout=1000 --fetch-retry-factor=2 --prefix".split(" "),
        folder,
        pnpm,
      ],
      cwd: folder,
      limitSeconds: 600,
    });
    if (!fetched.ok) return { ok: false, output: fetched.output };
  }
  const other = findOther(folder);
  return other === undefined
    ? { ok: true, program }
    : { ok: false, output: `${other} is not the package of this project` };
}

/**
 * Names a package that npm has installed and this project does not name; undefined: it names each.
 *
 * @param {string} folder
 * @returns {string | undefined}
 */
function findOther(folder) {
  let text;
  try {
    text = readFileSync(join(folder, "node_modules", ".package-lock.json"), "utf8");
  } catch {
    return "pnpm";
  }
  const { packages: installed } = /** @type {{ packages: Record<string, { version: string, integrity?: string }> }} */ (
    JSON.parse(text)
  );
  const names = Object.keys(installed);
  return names.find((path) => {
    const name = path.replace("node_modules/", "");
    const { version, integrity } = installed[path] || { version: "" };
    const isOther = hashes.has(name) ? hashes.get(name) !== integrity : !name.startsWith("@pnpm/exe.");
    return isOther || `pnpm@${version}` !== pnpm;
  });
}
