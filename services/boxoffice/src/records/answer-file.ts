import { hash, randomUUID } from "node:crypto";
import { type HeldFile, readDataUrl as readFile } from "@tessera/sent-files/data-url";
import { baseName, endingsOf, type FileType } from "@tessera/sent-files/file-type";
import type { Scope } from "../domain/scope.ts";

/** A file as an answer holds it. */
export interface AnswerFile extends HeldFile {
  /** Names this sending of it: the same content sent again lies beside it. */
  readonly id: string;
}

/** What an answer that holds a file has become. */
export type AnswerFileReading =
  | { readonly ok: true; readonly file: AnswerFile }
  | { readonly ok: false; readonly problem: string };

/** Reads the file that an answer holds; what is wrong with it is said without quoting it. */
export function readDataUrl(answer: string): AnswerFileReading {
  const reading = readFile(answer);
  return reading.ok ? { ok: true, file: { id: randomUUID(), ...reading.file } } : reading;
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
