import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Binaries } from "./binaries.ts";
import type { DataPlace } from "./data-place.ts";
import { fault } from "./faults.ts";
import { cannotRun, give, run } from "./run-program.ts";

/**
 * Locales that define which characters are letters, for the trigrams of a search; the best first. No machine has all of
 * them, and in C only ASCII has letters. Nothing else depends on it: order and capitals come from the built-in locale,
 * which is the same everywhere.
 */
const usualCharacterTypes = ["C.UTF-8", "en_US.UTF-8", "C"];

interface ClusterOptions {
  readonly place: DataPlace;
  readonly binaries: Binaries;
  readonly durable: boolean;
  readonly log: (line: string) => void;
  /** The first one that this machine has is used. */
  readonly characterTypes?: readonly string[];
}

/** Creates the cluster under another name and then renames it, so that it is complete or does not exist. */
export async function createCluster(options: ClusterOptions): Promise<void> {
  const { directory, account } = options.place;
  for (const name of await readdir(directory)) {
    // An orphaned initdb may still write to it; then the next start removes the rest.
    if (name.startsWith("data.new-")) await rm(join(directory, name), { recursive: true, force: true }).catch(() => {});
  }
  if ((await readVersion(join(directory, "data"))) !== undefined) return;

  const draft = join(directory, `data.new-${randomBytes(4).toString("hex")}`);
  await mkdir(draft, { mode: 0o700 });
  await give(draft, account);
  await initialize(draft, options);
  await rename(draft, join(directory, "data"));
  if (options.durable) await flushDirectory(directory);
  options.log(`created a database cluster in ${directory}`);
}

/** The error of initdb for an unknown locale, before it writes anything. */
const unknownLocale = /invalid locale name/;

async function initialize(
  draft: string,
  { place, binaries, durable, characterTypes = usualCharacterTypes }: ClusterOptions,
): Promise<void> {
  let failure = "";
  for (const characterType of characterTypes) {
    const { code, output } = await run(binaries.initdb, place.account, [
      `--pgdata=${draft}`,
      "--username=postgres",
      // The server reads who may connect from elsewhere.
      "--auth=reject",
      "--encoding=UTF8",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--locale=C",
      `--lc-ctype=${characterType}`,
      "--no-instructions",
      ...(durable ? [] : ["--no-sync"]),
    ]);
    if (code === 0) return;
    failure = output;
    if (!unknownLocale.test(output)) break;
  }
  await rm(draft, { recursive: true, force: true });
  throw cannotRun("initdb", failure);
}

/** Throws for a cluster of another major version: the server would refuse it, and report that only in its log. */
export async function requireVersion(data: string, { major }: Binaries): Promise<void> {
  const found = await readVersion(data);
  if (found === major) return;
  throw fault(
    "data_directory_of_other_version",
    `${data} was written by PostgreSQL ${found} and this installation brings ${major}: choose another directory, or run PostgreSQL ${found} on it and pass --database-url`,
  );
}

async function readVersion(data: string): Promise<string | undefined> {
  try {
    return (await readFile(join(data, "PG_VERSION"), "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
