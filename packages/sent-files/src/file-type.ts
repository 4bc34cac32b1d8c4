/** The types of files that come from outside, with the endings of their names, the usual one first. */
const endings = {
  "application/pdf": [".pdf"],
  "image/gif": [".gif"],
  "image/jpeg": [".jpg", ".jpeg"],
  "image/png": [".png"],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>;

export type FileType = keyof typeof endings;

export const fileTypes = Object.keys(endings) as readonly FileType[];

/** Tells whether files of a media type are taken. */
export function isFileType(type: string): type is FileType {
  return Object.hasOwn(endings, type);
}

/** What names of files of a type end with, the usual ending first. */
export function endingsOf(type: FileType): readonly [string, ...string[]] {
  return endings[type];
}

/** Control characters, and those that change the direction of the text around them. */
const invisible = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Reads a file's name as its sender wrote it: without folders and invisible characters. It may be empty. */
export function baseName(sent: string): string {
  return sent.replaceAll(invisible, "").split(/[\\/]/).at(-1)?.trim() ?? "";
}
