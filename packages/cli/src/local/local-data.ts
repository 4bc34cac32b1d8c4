import { randomBytes } from "node:crypto";
import { access, constants, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "@tessera/kit/config/config";
import { makeFolder } from "@tessera/kit/files/make-folder";
import { replaceFile } from "../command/replace-file.ts";
import { fault } from "../faults.ts";
import { logFileNames } from "../serve/log-file.ts";
import { localPlatformFile } from "./local-platform.ts";

/** The folder of a local platform for everything that survives a restart. */
export interface LocalData {
  readonly directory: string;
  readonly database: string;
  readonly files: string;
  readonly logFile: string;
  /** The operations port of the last start; undefined before the first one. */
  operationsPort(): Promise<number | undefined>;
  keepOperationsPort(port: number): Promise<void>;
  /** A random secret, created once and stored under this name. */
  keptSecret(name: string): Promise<string>;
  /** The device that a browser may become by the link of the demo, as it was kept. */
  readPageDevice(): Promise<string | undefined>;
  keepPageDevice(text: string): Promise<void>;
  /** The link with which a browser signs in to the board of the demo, as it was kept. */
  readBoardLink(): Promise<string | undefined>;
  keepBoardLink(text: string): Promise<void>;
  /** The configured operator key, or one that is created once and stored. */
  operatorKey(environment: Environment): Promise<{ operatorKey: string; madeOperatorKey: string | undefined }>;
}

/** Opens the data folder, and creates it if it is missing; `fresh` empties it first. */
export async function openLocalData({ directory, fresh }: { directory: string; fresh: boolean }): Promise<LocalData> {
  const files = join(directory, "files");
  let madeFiles: boolean;
  try {
    await makeFolder(directory);
    await access(directory, constants.W_OK);
    madeFiles = await claim(files);
  } catch (error) {
    throw notWritable(directory, error as NodeJS.ErrnoException);
  }
  if (fresh) {
    if (!madeFiles) throw notOurs(files);
    await requireCluster(join(directory, "postgres", "data"));
    await empty(directory);
    await claim(files);
  }
  const kept = (name: string) => keptSecret(join(directory, name));
  return {
    directory,
    database: join(directory, "postgres"),
    files,
    logFile: join(directory, "tessera.log"),
    operationsPort: () => readOperationsPort(directory),
    keepOperationsPort: (port) => replaceFile(join(directory, operationsPortFile), `${port}\n`),
    keptSecret: kept,
    readPageDevice: () => readKept(join(directory, pageDeviceFile)),
    keepPageDevice: (text) => replaceFile(join(directory, pageDeviceFile), `${text}\n`),
    readBoardLink: () => readKept(join(directory, boardLinkFile)),
    keepBoardLink: (text) => replaceFile(join(directory, boardLinkFile), `${text}\n`),
    async operatorKey(environment) {
      const given = environment["TESSERA_OPERATOR_KEY"];
      if (given) return { operatorKey: given, madeOperatorKey: undefined };
      const made = await kept(operatorKeyFile);
      return { operatorKey: made, madeOperatorKey: made };
    },
  };
}

const operatorKeyFile = "operator-key";

/** The operator key stored in a data folder. */
export function readOperatorKey(directory: string): Promise<string | undefined> {
  return readKept(join(directory, operatorKeyFile));
}

const pageDeviceFile = "demo-page-device.json";
const boardLinkFile = "demo-board-link.json";

/** Monitoring and the doctor find the process by it. It survives `--fresh`, so that monitoring keeps its addresses. */
const operationsPortFile = "operations-port";

/** The operations port of the last start with a data folder. */
export async function readOperationsPort(directory: string): Promise<number | undefined> {
  const port = Number(await readKept(join(directory, operationsPortFile)));
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined;
}

/** Marks a folder as created by a platform, which may delete it. */
const mark = "made-by-tessera";

/** Creates a folder, marks it if it is empty, and returns whether it is marked. */
async function claim(folder: string): Promise<boolean> {
  await makeFolder(folder, { mode: 0o750 });
  const names = await readdir(folder);
  if (names.length > 0) return names.includes(mark);
  await writeFile(join(folder, mark), "`tessera serve all --fresh` deletes this folder.\n");
  return true;
}

/** Refuses a database folder with foreign contents. */
async function requireCluster(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length > 0 && !names.includes("PG_VERSION")) throw notOurs(folder);
}

function notWritable(directory: string, error: NodeJS.ErrnoException): Error {
  const { code, path = directory } = error;
  const what = path === directory ? `the data folder ${directory}` : `${path} in the data folder`;
  const lacksRight = code === "EACCES" || code === "EPERM";
  const other = `choose another one with --data DIR`;
  const mend = lacksRight ? `give ${directory} to the user of the platform (chown -R), or ${other}` : other;
  return fault("data_directory_not_writable", `${what} cannot be written; ${mend}`, { cause: error });
}

function notOurs(folder: string): Error {
  return fault(
    "data_not_ours",
    `--fresh would delete ${folder}, which no platform made; move it away, or choose another folder with --data DIR`,
  );
}

/**
 * Removes only files that a platform writes, in case of a mistyped --data DIR. The progress of imports from pretix
 * goes, too, because their records are deleted.
 */
async function empty(directory: string): Promise<void> {
  for (const name of [
    ...logFileNames("tessera.log"),
    operatorKeyFile,
    "demo-api-key",
    "demo-device-key",
    pageDeviceFile,
    boardLinkFile,
    "from-pretix.json",
    localPlatformFile,
  ])
    await rm(join(directory, name), { force: true });
  await rm(join(directory, "files"), { recursive: true, force: true });
}

async function keptSecret(path: string): Promise<string> {
  const kept = await readKept(path);
  if (kept !== undefined) return kept;
  const secret = randomBytes(32).toString("hex");
  await replaceFile(path, `${secret}\n`);
  return secret;
}

/** The one line of a file; undefined: the file is missing or empty. */
async function readKept(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.trim() || undefined;
}
