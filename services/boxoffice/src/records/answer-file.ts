import { hash, randomUUID } from "node:crypto";
import { type HeldFile, readDataUrl as readFile } from "@tessera/sent-files/data-url";
import { baseName, endingsOf, type FileType } from "@tessera/sent-files/file-type";
import type { Scope } from "../domain/scope.ts";

export interface AnswerFile extends HeldFile {
  /** A random id: the same content that is sent again is another file. */
  readonly id: string;
}

/** The reading of an answer that holds a file. */
export type AnswerFileReading =
  | { readonly ok: true; readonly file: AnswerFile }
  | { readonly ok: false; readonly problem: string };

/** Reads the file that an answer holds; errors do not quote it. */
export function readDataUrl(answer: string): AnswerFileReading {
  const reading = readFile(answer);
  return reading.ok ? { ok: true, file: { id: randomUUID(), ...reading.file } } : reading;
}

const reference = /^file:(image\/png|image\/jpeg|image\/gif|application\/pdf);\d{1,8};[0-9a-f]{64}$/;

/** Whether an answer may be a reference to a stored file. */
export function isReference(answer: string): boolean {
  return reference.test(answer);
}

/**
 * Writes the reference that stands for a file in documents and facts: equal for equal content, revealing none of it.
 */
export function toReference(file: {
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
}): string {
  return `file:${file.contentType};${file.size};${file.sha256}`;
}

/** Makes the name of a file: the sent name without folders, with the extension of its type. */
export function nameFile(sent: string | null, contentType: FileType): string {
  const endings = endingsOf(contentType);
  const name = baseName(sent ?? "");
  if (/^\.*$/.test(name)) return `answer${endings[0]}`;
  return endings.some((ending) => name.toLowerCase().endsWith(ending)) ? name : name + endings[0];
}

const folder = "answers/";

/** The folder of all answer files in the file store. */
export const answerFilesPrefix = folder;

const key = /^answers\/[0-9a-f]{32}\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The key of a file in the store: in a folder per event, which does not reveal the event. */
export function keyOfFile({ organizer, event }: Scope, id: string): string {
  return `${folder}${hash("sha256", `${organizer}/${event}`).slice(0, 32)}/${id}`;
}

export function isKeyOfFile(text: string): boolean {
  return key.test(text);
}
