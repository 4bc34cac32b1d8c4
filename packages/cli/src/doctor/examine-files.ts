import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { access, constants, readdir, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Files } from "@tessera/kit/files/files";
import { openFiles } from "../open-engines.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Finding, ok, warning, wrong } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

const megabyte = 1024 * 1024;

/** Below the second, the next upload may fail. */
const fewMegabytes = 1024;
const hardlyAny = 100;

/** Examines where files are stored: puts a small file there, reads it and removes it. */
export async function examineFiles({ config, madeFiles }: Surroundings): Promise<Finding[]> {
  const files = await openFiles(config);
  try {
    if (config.files === "disk") {
      const folder = resolve(config.filesDirectory);
      return (await isGone({ config, madeFiles })) ? [gone(folder)] : await examineFolder(files, folder);
    }
    const mend = "look at S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_PATH_STYLE, the credentials and their rights";
    return [await tryOut(files, `the bucket ${config.s3Bucket ?? ""}`, mend)];
  } finally {
    await files.close();
  }
}

/** Whether the folder of a platform that runs is not there, or empty. Each start puts its mark there. */
export async function isGone({ config, madeFiles }: Pick<Surroundings, "config" | "madeFiles">): Promise<boolean> {
  if (config.files !== "disk" || resolve(config.filesDirectory) !== madeFiles) return false;
  return readdir(madeFiles).then(
    (names) => names.length === 0,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
}

function gone(folder: string): Finding {
  return wrong(`the folder ${folder} is gone, and the platform runs`, {
    why: "uploads, exports and tickets with a background are answered 503",
    mend: "mount its volume again, or put the folder back; a restart would begin with an empty one",
  });
}

async function examineFolder(files: Files, folder: string): Promise<Finding[]> {
  let nearest = folder;
  while (!existsSync(nearest) && nearest !== dirname(nearest)) nearest = dirname(nearest);
  const { bavail, bsize } = await statfs(nearest);
  // A folder created here would belong to this user, and the platform may run as another.
  const isUsed = existsSync(join(folder, "content")) && existsSync(join(folder, "incoming"));
  const mend =
    "make it readable and writable for the user that the platform runs as, or set FILES_DIR to another folder";
  return [
    isUsed ? await tryOut(files, `the folder ${folder}`, mend) : await judgeUnused(folder, nearest),
    ...judgeFree(Math.floor((bavail * bsize) / megabyte)),
  ];
}

async function tryOut(files: Files, store: string, mend: string): Promise<Finding> {
  const what = `${store} cannot be used`;
  const key = `doctor/${randomUUID()}`;
  const content = Buffer.from(`an examination: ${key}\n`);
  try {
    await files.put(key, content, { contentType: "text/plain" });
    const found = await files.get(key);
    const same = found !== undefined && (await buffer(found.content)).equals(content);
    await files.remove([key]);
    return same
      ? ok(`${store} stores files and returns them`)
      : wrong(what, { why: "the file that was read differs from the file that was stored", mend });
  } catch (error) {
    await files.remove([key]).catch(() => {});
    return explainFailure(error, { what, mend, trust: "S3_TLS_CA" });
  }
}

async function judgeUnused(folder: string, nearest: string): Promise<Finding> {
  try {
    await access(nearest, constants.W_OK | constants.X_OK);
    return ok(`the folder ${folder} is created with the first file`);
  } catch (error) {
    const what = `the folder ${folder} cannot be created`;
    return explainFailure(error, { what, mend: `make ${nearest} writable, or set FILES_DIR to another folder` });
  }
}

/** Judges how many megabytes are left. */
export function judgeFree(megabytes: number): Finding[] {
  if (megabytes >= fewMegabytes) return [];
  const judge = megabytes < hardlyAny ? wrong : warning;
  return [
    judge(`the disk of FILES_DIR has ${megabytes} MB left`, {
      why: "uploads and results are refused when it is full",
      mend: "free some, or set FILES_DIR to a folder on another disk",
    }),
  ];
}
