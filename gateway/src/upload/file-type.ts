import { parse } from "content-disposition";

/** The types that may be uploaded, with the extensions of their names. */
const extensions = {
  "image/gif": [".gif"],
  "image/jpeg": [".jpg", ".jpeg"],
  "image/png": [".png"],
  "application/pdf": [".pdf"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type FileType = keyof typeof extensions;

export const fileTypes = Object.keys(extensions) as readonly FileType[];

/** Tells whether a media type may be uploaded. */
export function isFileType(type: string): type is FileType {
  return Object.hasOwn(extensions, type);
}

/** Tells whether a name has an extension of a type; case matters. */
export function fits(name: string, type: FileType): boolean {
  return extensions[type].some((extension) => name.endsWith(extension) && name.length > extension.length);
}

/** The longest name that file systems allow, in characters. */
const longestName = 255;

/** Control characters, and those that change the direction of the text around them. */
const invisible = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Reads the file name of a Content-Disposition header, without folders; undefined if it has no name. */
export function fileNameOf(header: string): string | undefined {
  const name = parse(header).parameters["filename"];
  if (name === undefined) return undefined;
  const base = toUnicode(name).replaceAll(invisible, "").split(/[\\/]/).at(-1)?.trim() ?? "";
  if (base === "" || base === "." || base === "..") return undefined;
  const characters = Array.from(base);
  // The extension is at the end.
  return characters.slice(-longestName).join("");
}

/** Headers are read as Latin-1; many clients send UTF-8. */
function toUnicode(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.toString("latin1") !== text) return text;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return text;
  }
}
