import { endOfObject, findValue, referencesIn } from "./pdf-syntax.ts";

/** An object of a PDF: its text, and the bytes of its stream as they are, compressed or not. */
export interface PdfObject {
  readonly text: string;
  readonly stream?: Buffer;
}

export interface PlainPdf {
  readonly objects: ReadonlyMap<number, PdfObject>;
  /** The numbers of the pages, in order. */
  readonly pages: readonly number[];
}

/**
 * Reads a PDF that a program of ours has just written: the browser or the PDF library. Both write one table of all objects,
 * none of them packed, and the length of each stream beside it. Anything else is an error.
 */
export function readPlainPdf(bytes: Buffer): PlainPdf {
  const tail = bytes.toString("latin1", Math.max(0, bytes.length - 1024));
  const [, start] = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(tail) ?? [];
  if (start === undefined) throw new Error("the PDF has no table of objects at its end");
  const table = bytes.toString("latin1", Number(start));
  const [head = ""] = /^xref\s+/.exec(table) ?? [];
  if (head === "") throw new Error("the PDF has another table of objects than expected");
  const objects = new Map<number, PdfObject>();
  let at = head.length;
  for (;;) {
    const section = /^(\d+) (\d+)\s*?\r?\n/.exec(table.slice(at, at + 40));
    if (section === null) break;
    at += section[0].length;
    const [first, count] = [Number(section[1]), Number(section[2])];
    for (let index = 0; index < count; index += 1, at += 20) {
      const entry = table.slice(at, at + 20);
      if (entry[17] === "n") objects.set(first + index, readObject(bytes, Number(entry.slice(0, 10)), first + index));
    }
  }
  const trailer = table.slice(at);
  const root = referencesIn(findValue(trailer, "Root") ?? "")[0];
  const catalog = root === undefined ? undefined : objects.get(root);
  if (catalog === undefined) throw new Error("the PDF has no catalog");
  return { objects, pages: pagesOf(objects, referencesIn(findValue(catalog.text, "Pages") ?? "")) };
}

/** Texts of objects are short but for widths of fonts and lists of pages. */
const firstLook = 512;

function readObject(bytes: Buffer, offset: number, number: number): PdfObject {
  for (let length = firstLook; ; length *= 8) {
    const text = bytes.toString("latin1", offset, offset + length);
    const [head = ""] = /^(\d+) 0 obj\s*/.exec(text) ?? [];
    if (Number.parseInt(head, 10) !== number) throw new Error(`object ${number} is not where it should be`);
    let found: ReturnType<typeof endOfObject>;
    try {
      found = endOfObject(text, head.length);
    } catch (error) {
      if (offset + length < bytes.length) continue;
      throw error;
    }
    const dictionary = text.slice(head.length, found.end).trim();
    if (!found.isStream) return { text: dictionary };
    const size = Number(findValue(dictionary, "Length"));
    const [newline = ""] = /^stream(?:\r\n|\n)/.exec(text.slice(found.end, found.end + 8)) ?? [];
    const begin = offset + found.end + newline.length;
    if (newline === "" || !Number.isInteger(size) || begin + size > bytes.length)
      throw new Error(`the stream of object ${number} has no length`);
    return { text: dictionary, stream: bytes.subarray(begin, begin + size) };
  }
}

function pagesOf(objects: ReadonlyMap<number, PdfObject>, nodes: readonly number[], depth = 0): number[] {
  if (depth > 50) throw new Error("the pages are nested too deeply");
  return nodes.flatMap((node) => {
    const { text = "" } = objects.get(node) ?? {};
    const kids = findValue(text, "Kids");
    return kids === undefined ? [node] : pagesOf(objects, referencesIn(kids), depth + 1);
  });
}
