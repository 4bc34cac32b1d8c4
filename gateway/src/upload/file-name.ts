import { baseName, endingsOf, type FileType } from "@tessera/sent-files/file-type";
import { parse } from "content-disposition";

/** Tells whether a name has an ending of a type; case matters. */
export function fits(name: string, type: FileType): boolean {
  return endingsOf(type).some((ending) => name.endsWith(ending) && name.length > ending.length);
}

/** The longest name that file systems allow, in characters. */
const longestName = 255;

/** Reads the file name of a Content-Disposition header, without folders; undefined if it has no name. */
export function fileNameOf(header: string): string | undefined {
  const name = parse(header).parameters["filename"];
  if (name === undefined) return undefined;
  const base = baseName(toUnicode(name));
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
