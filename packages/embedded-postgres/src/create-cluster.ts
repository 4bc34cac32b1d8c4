import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Fault } from "@tessera/kit/fault";
import { give, run } from "./account.ts";
import type { Binaries } from "./binaries.ts";
import type { DataPlace } from "./data-place.ts";
import { fault } from "./faults.ts";

/**
 * Locales that define which characters are letters, for the trigrams of a search; the best first. No machine has all of
 * them, and in C only ASCII has letters. Nothing else depends on it: order and capitals come from the built-in locale,
 * which is the same everywhere.
 */
const characterTypes = ["C.UTF-8", "en_US.UTF-8", "C"];

interface ClusterOptions {
  readonly place: DataPlace;
  readonly binaries: Binaries;
  readonly durable: boolean;
  readonly log: (line: string) => void;
}

/**
 * Creates the cluster under another name and then renames it, so that it is complete or does not exist. Throws for one of
 * another major version, which the server would refuse only in its log.
 */
export async function createCluster(options: ClusterOptions): Promise<void> {
  const { place, binaries, durable, log } = options;
  const { directory, account } = place;
  const data = join(directory, "data");
  for (const name of await readdir(directory)) {
    // An orphaned initdb may still write to it; then the next start removes the rest.
    if (name.startsWith("data.new-")) await rm(join(directory, name), { recursive: true, force: true }).catch(() => {});
  }
  const found = (await readFile(join(data, "PG_VERSION"), "utf8").catch(() => "")).trim();
  if (found === binaries.major) return;
  if (found !== "") {
    throw fault(
      "data_directory_of_other_version",
      `${data} was written by PostgreSQL ${found} and this installation brings ${binaries.major}: choose another directory, or run PostgreSQL ${found} on it and pass --database-url`,
    );
  }
  const draft = join(directory, `data.new-${randomBytes(4).toString("hex")}`);
  await mkdir(draft, { mode: 0o700 });
  await give(draft, account);
  await initialize(draft, options);
  await rename(draft, data);
  if (durable) await flush(directory);
  log(`created a database cluster in ${directory}`);
}

async function initialize(draft: string, { place, binaries, durable }: ClusterOptions): Promise<void> {
  let failure = "";
  for (const characterType of characterTypes) {
    const { code, output } = await run(binaries.initdb, place.account, [
      ...[`--pgdata=${draft}`, "--username=postgres", "--encoding=UTF8", "--no-instructions"],
      // The server reads who may connect from elsewhere.
      "--auth=reject",
      ...["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", `--lc-ctype=${characterType}`],
      ...(durable ? [] : ["--no-sync"]),
    ]);
    if (code === 0) return;
    failure = output;
    if (!/invalid locale name/.test(output)) break;
  }
  await rm(draft, { recursive: true, force: true });
  throw cannotRun("initdb", failure);
}

/** The fault for a program that failed, with the last error line of its output, or its last line. */
export function cannotRun(program: string, output: string): Fault {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const telling = lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.at(-1) ?? "it said nothing";
  return fault(
    "embedded_database_failed",
    `the embedded PostgreSQL does not run here (${program}: ${telling.trim()}): remove the cause, or pass --database-url with the URL of a PostgreSQL server`,
    { cause: new Error(output) },
  );
}

async function flush(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
