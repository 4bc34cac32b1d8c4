import { randomBytes } from "node:crypto";
import { close as closeFile, type Dirent, existsSync, open as openFile, read as readFile } from "node:fs";
import { constants, type FileHandle, lstat, open, readdir, rename, rmdir, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Fault } from "@tessera/kit/fault";
import { fault } from "@tessera/kit/faults";
import type { Files, FoundFile, StoredFile } from "@tessera/kit/files/files";
import { makeFolder } from "@tessera/kit/files/make-folder";
import { digestOf } from "./digest.ts";
import { isKey, removedMeanwhile, requireContentType, requireKey, resolveRange } from "./file-key.ts";

export interface DiskFilesOptions {
  /** Made when the first file is put. Several processes may share it. */
  readonly directory: string;
}

/**
 * Keeps files in a folder.
 *
 * `content/` has a folder for each segment of a key, and a file for the last one. A file that is being written is a draft
 * beside it. A complete one is renamed to its final path, so a reader never sees half of a file.
 */
export function diskFiles({ directory }: DiskFilesOptions): Files {
  const content = join(directory, "content");

  // Removals leave this folder in place: if it disappears, its volume is unmounted, and no file was deleted.
  let wasMade = existsSync(content);

  /** Throws if the folder of all files has disappeared, instead of reporting no files. */
  async function requireContent(): Promise<undefined> {
    try {
      await stat(content);
      wasMade = true;
    } catch (error) {
      if (!isAbsence(error)) throw toFault(error);
      if (!wasMade) return;
      const message = "the folder for files is gone; mount its volume again, or restart to begin with an empty one";
      throw fault("files_unavailable", message, { retryAfterMs: 5000, cause: error });
    }
  }

  const files: Files = {
    async put(key, source, { contentType }) {
      requireKey(key);
      requireContentType(contentType);
      const digest = digestOf(source);
      const path = pathOf(content, key);
      const draft = `${path}${draftMark}${randomBytes(draftBytes).toString("hex")}`;
      try {
        await requireContent();
        const file = await openDraft(draft);
        wasMade = true;
        try {
          await write(file, header(contentType), digest.chunks());
          await rename(draft, path).catch(toRemoved);
          await syncFolder(dirname(path));
        } catch (error) {
          // A job removes one that cannot be removed now.
          await removeFile(draft, content).catch(() => {});
          throw error;
        }
      } catch (error) {
        throw digest.sourceError === undefined ? toFault(error) : digest.sourceError.error;
      }
      return digest.result();
    },

    async get(key, range) {
      requireKey(key);
      let file: FileHandle | undefined;
      try {
        file = await open(pathOf(content, key), constants.O_RDONLY | constants.O_NOFOLLOW);
        const { found, begin } = await describe(file, key);
        if (found === undefined) {
          await file.close();
          return undefined;
        }
        if (range === undefined && found.size <= begin.length) {
          await file.close();
          return { ...found, content: Readable.from(begin) } satisfies FoundFile;
        }
        const { first, last } =
          range === undefined ? { first: 0, last: found.size - 1 } : resolveRange(range, found.size);
        return { ...found, content: read(file, { first, last }) } satisfies FoundFile;
      } catch (error) {
        await file?.close();
        if (isAbsence(error)) return requireContent();
        throw toFault(error);
      }
    },

    async read(key, size) {
      requireKey(key);
      let bytes: Buffer;
      try {
        bytes = await readBegin(pathOf(content, key), headerBytes + size);
      } catch (error) {
        if (isAbsence(error)) return requireContent();
        throw toFault(error);
      }
      if (bytes.length === headerBytes + size) return bytes.subarray(headerBytes);
      const found = await files.get(key);
      return found === undefined ? undefined : buffer(found.content);
    },

    async remove(keys) {
      for (const key of keys) requireKey(key);
      await requireContent();
      try {
        for (const key of keys) await removeFile(pathOf(content, key), content);
      } catch (error) {
        throw toFault(error);
      }
    },

    async *list(prefix) {
      await requireContent();
      try {
        yield* walk(content, { above: "", prefix, isOfDrafts: false });
      } catch (error) {
        throw toFault(error);
      }
    },

    async *listUnfinished(prefix) {
      await requireContent();
      try {
        yield* walk(content, { above: "", prefix, isOfDrafts: true });
      } catch (error) {
        throw toFault(error);
      }
    },

    async removeUnfinished(keys) {
      for (const key of keys) requireKey(key);
      await requireContent();
      try {
        for (const path of keys.map((key) => pathOf(content, key))) {
          const found = await entriesOf(dirname(path));
          const drafts = found.filter(
            ({ name }) => draftEnd.test(name) && name.replace(draftEnd, "") === basename(path),
          );
          for (const { name } of drafts) await removeFile(join(dirname(path), name), content);
        }
      } catch (error) {
        throw toFault(error);
      }
    },

    async close() {},
  };
  return files;
}

/**
 * Stands between the name of a file and the random digits of its draft. Names of files escape it. The longest one has 240
 * characters, and most file systems take 255.
 */
const draftMark = "~";
const draftBytes = 6;
const draftEnd = /~[0-9a-f]{12}$/;

/** Opens a draft, and makes its folder, which is not removed while it has one. */
async function openDraft(draft: string): Promise<FileHandle> {
  // A concurrent remove may delete the empty folder before.
  for (let attempt = 1; ; attempt += 1) {
    try {
      await makeDurably(dirname(draft));
      return await open(draft, "wx", 0o640);
    } catch (error) {
      if (!losesRace.has(codeOf(error) ?? "") || attempt === mostAttempts) throw error;
    }
  }
}

function toRemoved(error: unknown): never {
  throw codeOf(error) === "ENOENT" ? removedMeanwhile(error) : error;
}

/** Errors of mkdir and open during a concurrent remove. After this many in a row the cause is another one. */
const losesRace: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EEXIST"]);
const mostAttempts = 50;

/** The header comes before the content, so that one rename publishes both. Its length is fixed: the size of the content follows from the file's size. */
const headerBytes = 256;

/** Most files are read from their beginning, and most pictures are no larger. */
const smallBytes = 16 * 1024;

function header(contentType: string): Buffer {
  const line = Buffer.alloc(headerBytes, " ");
  line.write(`${JSON.stringify({ contentType })}`);
  line.write("\n", headerBytes - 1);
  return line;
}

async function write(file: FileHandle, head: Buffer, content: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    await writeWhole(file, head);
    for await (const chunk of content) await writeWhole(file, chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.byteLength; ) {
    written += (await file.write(bytes, written)).bytesWritten;
  }
}

interface Described {
  readonly found: Omit<FoundFile, "content"> | undefined;
  /** The first bytes of the content, which are all of a small file. */
  readonly begin: Buffer;
}

/** Each step needs a thread of the pool: there are few steps, and the last one is not awaited. */
function readBegin(path: string, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    openFile(path, constants.O_RDONLY | constants.O_NOFOLLOW, (notOpened, file) => {
      if (notOpened !== null) return reject(notOpened);
      const bytes = Buffer.allocUnsafe(length);
      readFile(file, bytes, 0, length, 0, (notRead, bytesRead) => {
        closeFile(file, () => {});
        if (notRead !== null) reject(notRead);
        else resolve(bytes.subarray(0, bytesRead));
      });
    });
  });
}

async function describe(file: FileHandle, key: string): Promise<Described> {
  const { size, mtimeNs } = await file.stat({ bigint: true });
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytes + smallBytes), 0, headerBytes + smallBytes, 0);
  const begin = buffer.subarray(headerBytes, bytesRead);
  // A foreign file, for instance one that the operating system writes into each folder.
  if (bytesRead < headerBytes) return { found: undefined, begin };
  const { contentType } = JSON.parse(buffer.toString("utf8", 0, headerBytes)) as { contentType: string };
  return { found: { key, size: Number(size) - headerBytes, storedAt: Number(mtimeNs / 1000n), contentType }, begin };
}

function read(file: FileHandle, { first, last }: { first: number; last: number }): Readable {
  // An empty file has no last byte; the stream ends at once.
  const end = Math.max(headerBytes + last, headerBytes);
  const content = file.createReadStream({ start: headerBytes + first, end, autoClose: true });
  // A reader gets the error anyway. Without this listener an error before the first read would crash the process.
  content.on("error", () => {});
  return content;
}

/** Removes a file, and the folders above it that become empty. */
async function removeFile(path: string, content: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (isAbsence(error)) return;
    throw error;
  }
  for (let folder = dirname(path); folder !== content; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      break;
    }
  }
}

async function* walk(
  folder: string,
  { above, prefix, isOfDrafts }: { above: string; prefix: string; isOfDrafts: boolean },
): AsyncGenerator<StoredFile, void> {
  const entries = (await entriesOf(folder)).filter(
    (entry) => entry.isDirectory() || draftEnd.test(entry.name) === isOfDrafts,
  );
  for (const { entry, key } of sortedEntries(entries, above)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (key.startsWith(prefix) || prefix.startsWith(key)) yield* walk(path, { above: key, prefix, isOfDrafts });
    } else if (key.startsWith(prefix) && isKey(key)) {
      const stored = await lstat(path, { bigint: true }).catch(() => undefined);
      const size = Number(stored?.size ?? 0) - headerBytes;
      // A draft may end within its header.
      if (stored?.isFile() !== true || (size < 0 && !isOfDrafts)) continue;
      yield { key, size: Math.max(size, 0), storedAt: Number(stored.mtimeNs / 1000n) };
    }
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

/** A folder sorts by its name with the slash, so that all keys are in order. */
function sortedEntries(entries: readonly Dirent[], above: string): { entry: Dirent; key: string }[] {
  return entries
    .flatMap((entry) => {
      const segment = fromName(entry.name.replace(draftEnd, ""), entry.isDirectory() ? folderMark : "");
      return segment === undefined ? [] : [{ entry, key: `${above}${segment}${entry.isDirectory() ? "/" : ""}` }];
    })
    .map((found) => ({ ...found, bytes: Buffer.from(found.key) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
}

function pathOf(content: string, key: string): string {
  const segments = key.split("/");
  const last = segments.pop() ?? "";
  return join(content, ...segments.map((segment) => toName(segment) + folderMark), toName(last));
}

/** Ends the name of each folder. Segments escape it, so no file has the name of a folder. */
const folderMark = "+";

const plain = /^[a-z0-9_-]$/;

/**
 * File systems differ in which names are equal: upper and lower case, composed and decomposed accents. Only characters
 * that every file system distinguishes are used unescaped. A leading dot is escaped: it would hide the file.
 */
function toName(segment: string): string {
  return Array.from(Buffer.from(segment), (byte, index) => {
    const character = String.fromCharCode(byte);
    return plain.test(character) || (character === "." && index > 0)
      ? character
      : `%${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}

/** Undefined: `toName` makes no such name. */
function fromName(name: string, mark: string): string | undefined {
  const escaped = name.slice(0, name.length - mark.length);
  if (name !== escaped + mark || escaped === "") return undefined;
  const bytes = Buffer.from(
    escaped.replaceAll(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
  const segment = bytes.toString("utf8");
  return toName(segment) === escaped ? segment : undefined;
}

/** Makes a folder and those above it, and syncs them to disk. */
async function makeDurably(folder: string): Promise<void> {
  const first = await makeFolder(folder, { mode: 0o750 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await open(folder, constants.O_RDONLY);
  } catch (error) {
    // Another process has removed it: there is nothing to sync.
    if (isAbsence(error)) return;
    throw error;
  }
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Whether there is no file: nothing, a link, a folder, or a file in place of a folder. */
function isAbsence(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP", "EISDIR"].includes(codeOf(error) ?? "");
}

function toFault(error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof Fault || code === undefined) return error;
  const message =
    code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG"
      ? "the folder for files is full; make room on its disk"
      : `the folder for files cannot be used (${code}); make it readable and writable for this process`;
  return fault("files_unavailable", message, { retryAfterMs: 5000, cause: error });
}
