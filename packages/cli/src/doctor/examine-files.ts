import { randomUUID } from "node:crypto";
import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Files } from "@tessera/kit/files/files";
import { openFiles } from "../open-engines.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Finding, warning, well, wrong } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

const megabyte = 1024 * 1024;

/** An upload and what is made of it; below, the next one may fail. */
const fewMegabytes = 1024;
const hardlyAny = 100;

/** Examines where files are stored, by putting a small one there and removing it again. */
export async function examineFiles({ config }: Surroundings): Promise<Finding[]> {
  const files = await openFiles(config);
  try {
    if (config.files === "disk") return await examineFolder(files, resolve(config.filesDirectory));
    const mend = "look at S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_PATH_STYLE, the credentials and their rights";
    return [await tryOut(files, `the bucket ${config.s3Bucket ?? ""}`, mend)];
  } finally {
    await files.close();
  }
}

async function examineFolder(files: Files, folder: string): Promise<Finding[]> {
  let nearest = folder;
  while (!(await exists(nearest)) && nearest !== dirname(nearest)) nearest = dirname(nearest);
  const { bavail, bsize } = await statfs(nearest);
  const room = judgeFree(Math.floor((bavail * bsize) / megabyte));
  // A folder made here would belong to this user, and the platform may run as another one.
  const isUsed = (await exists(join(folder, "content"))) && (await exists(join(folder, "incoming")));
  const mend = "make it readable and writable for the user that the platform runs as, or set FILES_DIR to another";
  return [isUsed ? await tryOut(files, `the folder ${folder}`, mend) : await judgeUnused(folder, nearest), ...room];
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
      ? well(`${store} takes files and gives them back`)
      : wrong(what, { why: "what was put there did not come back the same", mend });
  } catch (error) {
    await files.remove([key]).catch(() => {});
    return explainFailure(error, { what, mend });
  }
}

async function judgeUnused(folder: string, nearest: string): Promise<Finding> {
  try {
    await access(nearest, constants.W_OK | constants.X_OK);
    return well(`the folder ${folder} is made when the first file is put there`);
  } catch (error) {
    const what = `the folder ${folder} cannot be made`;
    return explainFailure(error, { what, mend: `make ${nearest} writable, or set FILES_DIR to another folder` });
  }
}

/** Judges how much room is left, in megabytes. */
export function judgeFree(megabytes: number): Finding[] {
  if (megabytes >= fewMegabytes) return [];
  const judge = megabytes < hardlyAny ? wrong : warning;
  return [
    judge(`the disk of FILES_DIR has ${megabytes} MB left`, {
      why: "uploads and results are refused when it is full",
      mend: "make room on it, or set FILES_DIR to a folder on another",
    }),
  ];
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
