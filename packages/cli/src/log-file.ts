import { createWriteStream } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Writable } from "node:stream";
import { createStream, type FileSize } from "rotating-file-stream";
import { fault } from "./faults.ts";

/** Former files that are kept, besides the current one. */
const keptLogFiles = 5;

/** The names of a log file and of those before it. */
export function logFileNames(name: string): string[] {
  return [name, ...Array.from({ length: keptLogFiles }, (_, index) => `${name}.${index + 1}`)];
}

/** Takes whole lines. */
export interface LogFile {
  write(line: string): void;
  /** Resolves when every line is written. */
  written(): Promise<void>;
}

/** Opens a file for log lines. When it is full it is renamed, and the oldest one is deleted. */
export async function openLogFile(file: string, { size = "10M" }: { readonly size?: FileSize } = {}): Promise<LogFile> {
  const found = await stat(file).catch(() => undefined);
  await requireWritable(file, found === undefined ? dirname(file) : file);
  // A pipe or a terminal has no size, and cannot be renamed.
  const stream: Writable =
    found === undefined || found.isFile()
      ? createStream(
          (index) => (typeof index === "number" && index > 0 ? `${basename(file)}.${index}` : basename(file)),
          {
            path: dirname(file),
            size,
            rotate: keptLogFiles,
            mode: 0o600,
          },
        )
      : createWriteStream(file, { flags: "a" });
  // A full disk must not end the platform.
  stream.on("error", () => {});
  return {
    write: (line) => void stream.write(line),
    written: () => new Promise((resolve) => void stream.write("", () => resolve())),
  };
}

/** Lines that cannot be written later are dropped, so a mistake must show at the start. */
async function requireWritable(file: string, place: string): Promise<void> {
  try {
    await access(place, constants.W_OK);
  } catch (error) {
    throw fault("log_file_unusable", `the log file ${file} cannot be written; name another with --log-file`, {
      cause: error,
    });
  }
}
