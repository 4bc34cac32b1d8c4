import { randomUUID } from "node:crypto";
import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import { openFiles } from "../open-engines.ts";
import { type Finding, skipped, well } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";
import { tellFailure } from "./tell-failure.ts";

const megabyte = 1024 * 1024;

/** An upload and what is made of it; below, the next one may fail. */
const fewMegabytes = 1024;
const hardlyAny = 100;

/** Examines where files lie, by putting a small one there and taking it away again. */
export async function examineFiles({ config, cannotRead }: Surroundings): Promise<Finding[]> {
  if (cannotRead(/^(?:FILES|S3_)/)) return [skipped("files", "their settings cannot be read")];
  let files: Files;
  try {
    files = await openFiles(config);
  } catch (error) {
    if (error instanceof Fault) return [skipped("files", "their settings are refused")];
    throw error;
  }
  try {
    return config.files === "disk"
      ? await examineFolder(files, resolve(config.filesDirectory))
      : await examineBucket(files, config.s3Bucket ?? "");
  } finally {
    await files.close();
  }
}

async function examineBucket(files: Files, bucket: string): Promise<Finding[]> {
  const what = `the bucket ${bucket} cannot be used`;
  const mend = "look at S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_PATH_STYLE, the credentials and their rights";
  return [await tryOut(files, { well: `the bucket ${bucket} takes files and gives them back`, what, mend })];
}

async function examineFolder(files: Files, folder: string): Promise<Finding[]> {
  const room = await judgeRoom(folder);
  // A folder that the doctor made would be the doctor's, and the platform may run as somebody else.
  const isUsed = (await isThere(join(folder, "content"))) && (await isThere(join(folder, "incoming")));
  if (!isUsed) return [await judgeUnused(folder), ...room];
  const mend = "make it readable and writable for the user that the platform runs as, or set FILES_DIR to another";
  return [
    await tryOut(files, {
      well: `the folder ${folder} takes files and gives them back`,
      what: `the folder ${folder} cannot be used`,
      mend,
    }),
    ...room,
  ];
}

async function tryOut(files: Files, told: { well: string; what: string; mend: string }): Promise<Finding> {
  const key = `doctor/${randomUUID()}`;
  const content = Buffer.from(`a look at ${key}\n`);
  try {
    await files.put(key, content, { contentType: "text/plain" });
    const found = await files.get(key);
    const same = found !== undefined && (await buffer(found.content)).equals(content);
    await files.remove([key]);
    if (same) return well(told.well);
    return { level: "wrong", what: told.what, why: "what was put there did not come back the same", mend: told.mend };
  } catch (error) {
    await files.remove([key]).catch(() => {});
    return tellFailure(error, { what: told.what, mend: told.mend });
  }
}

async function judgeUnused(folder: string): Promise<Finding> {
  const nearest = await nearestFolder(folder);
  try {
    await access(nearest, constants.W_OK | constants.X_OK);
    return well(`the folder ${folder} is made when the first file is put there`);
  } catch (error) {
    const what = `the folder ${folder} cannot be made`;
    return tellFailure(error, { what, mend: `make ${nearest} writable, or set FILES_DIR to another folder` });
  }
}

async function judgeRoom(folder: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(await nearestFolder(folder));
  return judgeFree(Math.floor((bavail * bsize) / megabyte));
}

/** Judges how much room is left, in megabytes. */
export function judgeFree(megabytes: number): Finding[] {
  if (megabytes >= fewMegabytes) return [];
  return [
    {
      level: megabytes < hardlyAny ? "wrong" : "warning",
      what: `the disk of FILES_DIR has ${megabytes} MB left`,
      why: "uploads and results are refused when it is full",
      mend: "make room on it, or set FILES_DIR to a folder on another",
    },
  ];
}

async function nearestFolder(folder: string): Promise<string> {
  for (let at = folder; ; at = dirname(at)) {
    if ((await isThere(at)) || at === dirname(at)) return at;
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
