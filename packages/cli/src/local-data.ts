import { randomBytes } from "node:crypto";
import { access, constants, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fault } from "./faults.ts";
import { logFileNames } from "./log-file.ts";

/** The folder of a local platform for everything that survives a restart. */
export interface LocalData {
  readonly directory: string;
  readonly database: string;
  readonly files: string;
  readonly logFile: string;
  /** A random secret that is made once and stored under this name. */
  keptSecret(name: string): Promise<string>;
}

/** Opens the data folder, and creates it if it is missing; `fresh` empties it first. */
export async function openLocalData({ directory, fresh }: { directory: string; fresh: boolean }): Promise<LocalData> {
  try {
    await mkdir(directory, { recursive: true });
    await access(directory, constants.W_OK);
  } catch (error) {
    throw fault(
      "data_directory_not_writable",
      `the data folder ${directory} cannot be written; choose another one with --data DIR`,
      { cause: error },
    );
  }
  if (fresh) await empty(directory);
  return {
    directory,
    database: join(directory, "postgres"),
    files: join(directory, "files"),
    logFile: join(directory, "tessera.log"),
    keptSecret: (name) => keptSecret(join(directory, name)),
  };
}

/**
 * Removes only files that a platform writes: a mistyped --data DIR costs nothing else. The progress of imports from
 * pretix goes too, because the records that it counts as stored are deleted.
 */
async function empty(directory: string): Promise<void> {
  for (const name of [
    ...logFileNames("tessera.log"),
    "operator-key",
    "demo-api-key",
    "demo-device-key",
    "from-pretix.json",
  ])
    await rm(join(directory, name), { force: true });
  await rm(join(directory, "files"), { recursive: true, force: true });
}

async function keptSecret(path: string): Promise<string> {
  const kept = await readFile(path, "utf8").catch(() => "");
  if (kept.trim() !== "") return kept.trim();
  const secret = randomBytes(32).toString("hex");
  // Renamed into place, so that a file that exists is complete.
  await writeFile(`${path}.new`, `${secret}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return secret;
}
