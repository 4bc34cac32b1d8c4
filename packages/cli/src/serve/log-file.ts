import { createWriteStream } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Writable } from "node:stream";
import { createStream, type FileSize } from "rotating-file-stream";
import { fault } from "../faults.ts";

/** Former files that are kept, besides the current one. */
const keptLogFiles = 5;

/** The names of a log file and its predecessors. */
export function logFileNames(name: string): string[] {
  return [name, ...Array.from({ length: keptLogFiles }, (_, index) => `${name}.${index + 1}`)];
}

/** Takes whole lines. */
export interface LogFile {
  write(line: string): void;
  /** Resolves when every line is written. */
  written(): Promise<void>;
}

/** By then the disk may have room again. */
const usualRetryMs = 5000;

/** Opens a file for log lines, with rotation. While the disk is full lines are dropped, and the platform goes on. */
export async function openLogFile(
  file: string,
  { size = "10M", retryMs = usualRetryMs }: { readonly size?: FileSize; readonly retryMs?: number } = {},
): Promise<LogFile> {
  const found = await stat(file).catch(() => undefined);
  await requireWritable(file, found === undefined ? dirname(file) : file);
  // A pipe or a terminal has no size, and cannot be renamed.
  const isFile = found === undefined || found.isFile();
  let failedAt = 0;
  const open = (): Writable => {
    const stream = isFile ? openRotating(file, size) : createWriteStream(file, { flags: "a" });
    return stream.on("error", () => {
      failedAt = performance.now();
    });
  };
  let stream = open();
  return {
    write(line) {
      if (isFile && stream.destroyed && performance.now() - failedAt >= retryMs) {
        stream = open();
        // The last line may have been cut.
        stream.write("\n");
      }
      stream.write(line);
    },
    written: () => new Promise((resolve) => void stream.write("", () => resolve())),
  };
}

function openRotating(file: string, size: FileSize): Writable {
  return createStream(
    (index) => (typeof index === "number" && index > 0 ? `${basename(file)}.${index}` : basename(file)),
    { path: dirname(file), size, rotate: keptLogFiles, mode: 0o600 },
  );
}

/** Later write errors only drop lines, so a wrong path must show at the start. */
async function requireWritable(file: string, place: string): Promise<void> {
  try {
    await access(place, constants.W_OK);
  } catch (error) {
    throw fault("log_file_unusable", `the log file ${file} cannot be written; name another with --log-file`, {
      cause: error,
    });
  }
}
