import { baseName, endingsOf, type FileType } from "@tessera/sent-files/file-type";
import { parse } from "content-disposition";

/** Whether a name has an extension of a type; case matters. */
export function fits(name: string, type: FileType): boolean {
  return endingsOf(type).some((ending) => name.endsWith(ending) && name.length > ending.length);
}

/** The longest file name of common file systems, in characters. */
const longestName = 255;

/** Reads the file name of a Content-Disposition header, without folders; undefined: no name. */
export function fileNameOf(header: string): string | undefined {
  const name = parse(header).parameters["filename"];
  if (name === undefined) return undefined;
  const base = baseName(toUnicode(name));
  if (base === "" || base === "." || base === "..") return undefined;
  const characters = Array.from(base);
  // Keeps the end, which has the extension.
  return characters.slice(-longestName).join("");
}

/** Node decodes headers as Latin-1; many clients send UTF-8. */
function toUnicode(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.toString("latin1") !== text) return text;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return text;
  }
}
