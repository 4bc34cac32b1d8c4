import { hash, randomUUID } from "node:crypto";
import { baseName, endingsOf, type FileType, fileTypes, isFileType } from "@tessera/sent-files/file-type";
import type { Scope } from "../domain/scope.ts";

/** A file as an answer holds it. */
export interface AnswerFile {
  /** Names this sending of it: the same content sent again lies beside it. */
  readonly id: string;
  readonly contentType: FileType;
  readonly content: Uint8Array;
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** What an answer that holds a file has become. */
export type AnswerFileReading =
  | { readonly ok: true; readonly file: AnswerFile }
  | { readonly ok: false; readonly problem: string };

const mostBytes = 10 * 1024 * 1024;

/** Base64 takes four characters for three bytes. */
const mostCharacters = 4 * Math.ceil(mostBytes / 3);

/** What a media type with its parameters may take. */
const longestHead = 300;

const beginning = /^data:/i;

/** Tells whether an answer looks like a file that it holds. */
export function isDataUrl(answer: string): boolean {
  return beginning.test(answer);
}

/** Reads the file that an answer holds; what is wrong with it is said without quoting it. */
export function readDataUrl(answer: string): AnswerFileReading {
  const comma = answer.slice(0, longestHead).indexOf(",");
  const [type = "", ...parameters] = answer.slice("data:".length, Math.max(comma, 0)).toLowerCase().split(";");
  if (comma < 0 || parameters.at(-1)?.trim() !== "base64") {
    return wrong("A file is written as `data:image/png;base64,…`.");
  }
  const contentType = type.trim();
  if (!isFileType(contentType)) {
    return wrong(`Files of this type are not taken, only ${fileTypes.join(", ")}.`);
  }
  const text = answer.slice(comma + 1);
  if (text.length > mostCharacters) return wrong(tooLarge);
  const content = Buffer.from(text, "base64");
  // Decoding skips characters that are not base64, and would silently lose a part of the file.
  if (content.toString("base64") !== text) return wrong("The content of the file is not base64.");
  if (content.length === 0) return wrong("The file is empty.");
  if (content.length > mostBytes) return wrong(tooLarge);
  const sha256 = hash("sha256", content);
  return { ok: true, file: { id: randomUUID(), contentType, content, size: content.length, sha256 } };
}

const tooLarge = `The file is larger than ${mostBytes / 1024 / 1024} MiB.`;

function wrong(problem: string): AnswerFileReading {
  return { ok: false, problem };
}

const reference = /^file:(image\/png|image\/jpeg|image\/gif|application\/pdf);\d{1,8};[0-9a-f]{64}$/;

/** Tells whether an answer may stand for a file that is stored. */
export function isReference(answer: string): boolean {
  return reference.test(answer);
}

/** Writes the reference that documents and facts have instead of a file: equal for equal content, and without any of it. */
export function toReference(file: {
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
}): string {
  return `file:${file.contentType};${file.size};${file.sha256}`;
}

/** Makes the name of a file: the one it came with, without folders, and ending as its type does. */
export function nameFile(sent: string | null, contentType: FileType): string {
  const endings = endingsOf(contentType);
  const name = baseName(sent ?? "");
  if (/^\.*$/.test(name)) return `answer${endings[0]}`;
  return endings.some((ending) => name.toLowerCase().endsWith(ending)) ? name : name + endings[0];
}

const folder = "answers/";

/** Where all files of answers lie in the store for files. */
export const answerFilesPrefix = folder;

const key = /^answers\/[0-9a-f]{32}\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Names the place of a file in the store: a folder per event, which does not tell which. */
export function keyOfFile({ organizer, event }: Scope, id: string): string {
  return `${folder}${hash("sha256", `${organizer}/${event}`).slice(0, 32)}/${id}`;
}

/** Tells whether a key is one of `keyOfFile`. */
export function isKeyOfFile(text: string): boolean {
  return key.test(text);
}
