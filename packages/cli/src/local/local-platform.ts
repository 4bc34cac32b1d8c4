import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isRunning, startMarkOf } from "@tessera/kit/service/running-process";
import { replaceFile } from "../command/replace-file.ts";
import { fault } from "../faults.ts";
import { nameRelease } from "../version.ts";

/** A process of a platform, with its health address. */
export interface LocalProcess {
  readonly name: string;
  readonly operationsPort: number;
}

/** A platform that runs on a data folder of this machine. */
export interface LocalPlatform {
  readonly baseUrl: string;
  /** The URL by which this machine reaches it. */
  readonly url: string;
  readonly processes: readonly LocalProcess[];
  /** The version and commit that it runs. Undefined: it is older than this note. */
  readonly release?: string;
  /** The process that stops the others. */
  readonly pid: number;
  /** Whether the platform uses the key in the folder, not a configured one. */
  readonly isKeyInFolder: boolean;
}

/** The name of the file in the data folder. */
export const localPlatformFile = "running.json";

/** Notes the addresses of the platform in its data folder, until `forget` is called. */
export async function noteLocalPlatform(
  directory: string,
  platform: Omit<LocalPlatform, "pid" | "release">,
): Promise<{ forget(): Promise<void> }> {
  const path = join(directory, localPlatformFile);
  const note = { ...platform, release: nameRelease(), pid: process.pid, startMark: startMarkOf(process.pid) };
  await replaceFile(path, `${JSON.stringify(note, undefined, 2)}\n`);
  return { forget: () => rm(path, { force: true }) };
}

/** Finds the platform that runs on a data folder. */
export async function findLocalPlatform(directory: string): Promise<LocalPlatform | undefined> {
  const noted = await findNotedPlatform(directory);
  return noted?.isRunning ? noted.platform : undefined;
}

/** Finds the platform noted in a data folder. A note of a platform that does not run was left by a kill. */
export async function findNotedPlatform(
  directory: string,
): Promise<{ readonly platform: LocalPlatform; readonly isRunning: boolean } | undefined> {
  const text = await readFile(join(directory, localPlatformFile), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EACCES") return undefined;
    const message = `the data folder ${directory} cannot be read; run this as the user of the platform, or as root`;
    throw fault("data_folder_unreadable", message, { cause: error });
  });
  if (text === undefined) return undefined;
  const { startMark, ...platform } = JSON.parse(text) as LocalPlatform & { readonly startMark?: string };
  return { platform, isRunning: isRunning(platform.pid, startMark) };
}
