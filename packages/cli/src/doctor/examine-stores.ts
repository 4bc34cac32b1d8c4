import { randomUUID } from "node:crypto";
import { existsSync, type Stats } from "node:fs";
import { mkdtemp, readdir, rmdir, stat, statfs } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Files } from "@tessera/kit/files/files";
import { type Finding, ok, only, Skip, warning, wrong } from "@tessera/kit/service/finding";
import { explainFailure } from "../command/explain-failure.ts";
import { endpointOf } from "../command/hide-secrets.ts";
import { isRedisUrl } from "../configuration/examine-configuration.ts";
import type { Surroundings } from "../configuration/surroundings.ts";
import { localPlatformFile } from "../local/local-platform.ts";
import { openFiles, redisAccess } from "../serve/open-engines.ts";

const independent = "the platform works without it; until it is back, each process counts limits for itself";

/** Examines the cache, which no answer depends on. */
export async function examineCache({ config }: Pick<Surroundings, "config">): Promise<Finding[]> {
  if (config.cache === "memory") return [ok("each process has a cache of its own (CACHE=memory)")];
  const url = config.redisUrl?.reveal() ?? "";
  if (!isRedisUrl(url)) throw new Skip("REDIS_URL cannot be read");
  const endpoint = endpointOf(url);
  const access = redisAccess(config);
  // Lazy: a starting service examines its configuration, and may need no client.
  const { inspectRedis } = await import("@tessera/engines/cache/redis");
  try {
    const answer = await inspectRedis(access);
    if (typeof answer === "string") return judgeRedis(answer, endpoint);
    const mend = /^(?:NOAUTH|WRONGPASS|ERR)$/.test(answer.refusal)
      ? "correct user and password in REDIS_URL"
      : "look at that server's log and access rules";
    return [
      wrong`Redis at ${endpoint} refuses what it is asked (${answer.refusal})
        ${independent}
        → ${mend}`,
    ];
  } catch (error) {
    const what = `Redis at ${endpoint} cannot be used`;
    const mend = "start it, or correct REDIS_URL";
    const finding = explainFailure(error, { what, level: "warning", mend, trust: "REDIS_TLS_CA" });
    return [{ ...finding, why: `${finding.why}; ${independent}` }];
  }
}

/** Judges what Redis or Valkey reports about itself: the answer to INFO. */
export function judgeRedis(information: string, endpoint: string): Finding[] {
  const read = (field: string) => new RegExp(`^${field}:(.*?)\r?$`, "m").exec(information)?.[1] ?? "";
  const valkey = read("valkey_version");
  const [name, version] = valkey === "" ? ["Redis", read("redis_version")] : ["Valkey", valkey];
  return only([
    ok(`${name} ${version} at ${endpoint} answers`),
    name === "Redis" &&
      Number.parseInt(version, 10) < 7 &&
      warning`Redis ${version} is older than the versions that are tested
        → use Redis 7 or newer`,
    read("role") === "slave" &&
      wrong`this ${name} is a replica
        it accepts no writes
        → set REDIS_URL to the primary`,
    Number(read("maxmemory")) > 0 &&
      read("maxmemory_policy") === "noeviction" &&
      warning`${name} refuses writes when its memory is full (maxmemory-policy noeviction)
        each process would then count limits for itself
        → set maxmemory-policy to volatile-ttl`,
  ]);
}

/** Examines where files are stored: puts a small file there, reads it and removes it. */
export async function examineFiles(around: Surroundings): Promise<Finding[]> {
  const { config } = around;
  const files = await openFiles(config);
  try {
    if (config.files === "disk") return await examineFolder(files, around);
    const mend = "look at S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_PATH_STYLE, the credentials and their rights";
    return [await tryOut(files, `the bucket ${config.s3Bucket ?? ""}`, mend)];
  } finally {
    await files.close();
  }
}

/** Whether the file folder of a running platform is missing or empty. Each start puts its mark there. */
async function isGone({ config, madeFiles }: Pick<Surroundings, "config" | "madeFiles">): Promise<boolean> {
  if (config.files !== "disk" || resolve(config.filesDirectory) !== madeFiles) return false;
  return readdir(madeFiles).then(
    (names) => names.length === 0,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
}

async function examineFolder(files: Files, around: Surroundings): Promise<Finding[]> {
  const folder = resolve(around.config.filesDirectory);
  if (await isGone(around))
    return [
      wrong`the folder ${folder} is gone, and the platform runs
        uploads, exports and tickets with a background are answered 503
        → mount its volume again, or put the folder back; a restart would begin with an empty one`,
    ];
  let nearest = folder;
  while (!existsSync(nearest) && nearest !== dirname(nearest)) nearest = dirname(nearest);
  // A folder created here would belong to this user, but the platform may run as another.
  const isUsed = existsSync(join(folder, "content"));
  const mend =
    "make it readable and writable for the user that the platform runs as, or set FILES_DIR to another folder";
  const given = around.given["FILES_DIR"] ?? "";
  const relative = only([
    around.isWhole &&
      given !== "" &&
      !isAbsolute(given) &&
      warning`FILES_DIR is ${given}, which is another folder wherever a process starts
        here it is ${folder}, and the platform may use another one
        → set it to the whole path`,
  ]);
  const foreign = await findForeign({ folder, nearest, isUsed }, around);
  if (foreign !== undefined) return [...relative, foreign];
  return [
    ...relative,
    isUsed ? await tryOut(files, `the folder ${folder}`, mend) : await judgeUnused(folder, nearest),
    ...judgeFree(await freeMegabytes(nearest), {
      disk: "FILES_DIR",
      harm: "uploads and results are refused when it is full",
      mend: "free some, or set FILES_DIR to a folder on another disk",
    }),
  ];
}

/** Root may write everywhere: whether the platform may is judged by who owns its note, else its data folder. */
async function findForeign(
  { folder, nearest, isUsed }: { readonly folder: string; readonly nearest: string; readonly isUsed: boolean },
  { directory, isWhole }: Pick<Surroundings, "directory" | "isWhole">,
): Promise<Finding | undefined> {
  if (!isWhole || process.getuid?.() !== 0) return undefined;
  const ownerOf = (path: string) => stat(path).then(({ uid }) => uid);
  const platform = await ownerOf(join(directory, localPlatformFile)).catch(() => ownerOf(directory).catch(() => 0));
  const names = isUsed ? ["", "content"] : [""];
  const parts = await Promise.all(names.map((part) => stat(join(nearest, part))));
  return judgeOwner({ folder, nearest, platform, parts });
}

/** Judges whether the account of a platform may write where its files are. */
export function judgeOwner({
  folder,
  nearest,
  platform,
  parts,
}: {
  readonly folder: string;
  /** The folder, or the one in which it would be made. */
  readonly nearest: string;
  readonly platform: number;
  readonly parts: readonly Pick<Stats, "uid" | "mode">[];
}): Finding | undefined {
  const isClosed = ({ uid, mode }: Pick<Stats, "uid" | "mode">) => uid !== platform && (mode & 0o022) === 0;
  if (platform === 0 || !parts.some(isClosed)) return undefined;
  if (nearest !== folder)
    return wrong`the folder ${folder} cannot be made by the account of the platform
      uploads, exports and tickets with a background are answered 503
      → make it for the account with the number ${platform}: \`install -d -m 750 -o ${platform} ${folder}\``;
  return wrong`the folder ${folder} belongs to another account than the platform
    uploads, exports and tickets with a background are answered 503
    → give it to the account with the number ${platform}: \`chown -R ${platform} ${folder}\``;
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
    // In a bucket this needs a right of its own, which no other request shows.
    for await (const _unfinished of files.listUnfinished(key));
    if (same) return ok(`${store} stores files and returns them`);
    throw new Error("the file that was read differs from the file that was stored");
  } catch (error) {
    await files.remove([key]).catch(() => {});
    return explainFailure(error, { what, mend, trust: "S3_TLS_CA" });
  }
}

async function judgeUnused(folder: string, nearest: string): Promise<Finding> {
  try {
    // Only a try tells: root may write everywhere, and yet not into a file or a system's folder.
    await rmdir(await mkdtemp(join(nearest, ".tessera-doctor-")));
    return ok(`the folder ${folder} is created with the first file`);
  } catch (error) {
    const mend = `make ${nearest} writable, or set FILES_DIR to another folder`;
    return explainFailure(error, { what: `the folder ${folder} cannot be created`, mend });
  }
}

/** Examines the disk of the embedded database, whether it runs or not: a full disk ends it, and keeps it from starting. */
export async function examineDataFolder({
  database: { local },
  directory,
  isDataNamed,
  isWhole,
}: Pick<Surroundings, "database" | "directory" | "isDataNamed" | "isWhole">): Promise<Finding[]> {
  if (isWhole && isDataNamed && !existsSync(directory))
    return [
      wrong`there is no data folder ${directory}
        no platform runs on it, whatever else runs here
        → name the folder of the platform with --data`,
    ];
  if (local === undefined || local.kind === "absent") return [];
  return judgeFree(await freeMegabytes(directory), {
    disk: `the data folder ${directory}`,
    harm: "the database stops when it is full, and does not start until there is room",
    mend: "free some; what was stored stays",
  });
}

async function freeMegabytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return Math.floor((bavail * bsize) / 1024 ** 2);
}

/** Judges how many megabytes a disk has left. Below a hundred, the next write may fail. */
export function judgeFree(
  megabytes: number,
  { disk, harm, mend }: { readonly disk: string; readonly harm: string; readonly mend: string },
): Finding[] {
  const judge = megabytes < 100 ? wrong : warning;
  return only([
    megabytes < 1024 &&
      judge`the disk of ${disk} has ${megabytes} MB left
        ${harm}
        → ${mend}`,
  ]);
}

/** Works with the file store of the platform. Rejects with a Skip where it is not. */
export async function withFiles<T>(around: Surroundings, work: (files: Files) => Promise<T>): Promise<T> {
  if (await isGone(around)) throw new Skip("the folder for files is gone");
  // A start makes the folder, so a process that is named and has none here runs elsewhere, as in another pod.
  if (around.config.files === "disk" && around.health.length > 0 && !existsSync(around.config.filesDirectory))
    throw new Skip("the folder for files is not here; examine it where the platform runs");
  const files = await openFiles(around.config);
  try {
    return await work(files);
  } finally {
    await files.close();
  }
}
