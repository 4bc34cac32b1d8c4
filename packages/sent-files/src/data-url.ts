import { hash } from "node:crypto";
import { type FileType, fileTypes, isFileType } from "./file-type.ts";

/** A file in memory. */
export interface HeldFile {
  readonly contentType: FileType;
  readonly content: Uint8Array;
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

export type DataUrlReading =
  | { readonly ok: true; readonly file: HeldFile }
  | { readonly ok: false; readonly problem: string };

/** What a file may have, if no setting says another. */
export const mostBytes = 10 * 1024 * 1024;

/** Base64 takes four characters for three bytes. */
const mostCharacters = 4 * Math.ceil(mostBytes / 3);

/** What a media type with its parameters may take. */
const longestHead = 300;

const beginning = /^data:/i;

/** Tells whether a text looks like a file that it holds. */
export function isDataUrl(text: string): boolean {
  return beginning.test(text);
}

/** Reads the file that a text holds; what is wrong with it is said without quoting it. */
export function readDataUrl(url: string): DataUrlReading {
  const comma = url.slice(0, longestHead).indexOf(",");
  const [type = "", ...parameters] = url.slice("data:".length, Math.max(comma, 0)).toLowerCase().split(";");
  if (comma < 0 || parameters.at(-1)?.trim() !== "base64") {
    return wrong("A file is written as `data:image/png;base64,…`.");
  }
  const contentType = type.trim();
  if (!isFileType(contentType)) {
    return wrong(`Files of this type are not taken, only ${fileTypes.join(", ")}.`);
  }
  const text = url.slice(comma + 1);
  if (text.length > mostCharacters) return wrong(tooLarge);
  const content = Buffer.from(text, "base64");
  // Decoding skips characters that are not base64, and would silently lose a part of the file.
  if (content.toString("base64") !== text) return wrong("The content of the file is not base64.");
  if (content.length === 0) return wrong("The file is empty.");
  if (content.length > mostBytes) return wrong(tooLarge);
  return { ok: true, file: holdFile(contentType, content) };
}

export function holdFile(contentType: FileType, content: Uint8Array): HeldFile {
  return { contentType, content, size: content.length, sha256: hash("sha256", content) };
}

const tooLarge = `The file is larger than ${mostBytes / 1024 / 1024} MiB.`;

function wrong(problem: string): DataUrlReading {
  return { ok: false, problem };
}
