import { posix } from "node:path";
import type { Source } from "./read-sources.ts";

export interface Import {
  readonly specifier: string;
  readonly line: number;
}

const forms = [
  /\b(?:import|export)\s+[\w\s{},*$]*?\bfrom\s*["']([^"'\n]+)["']/g,
  /\bimport\s*["']([^"'\n]+)["']/g,
  /\bimport\s*\(\s*["'`]([^"'`\n]+)["'`]/g,
  /\b(?:require|require\.resolve|import\.meta\.resolve)\s*\(\s*["']([^"'\n]+)["']/g,
];

/** Finds every module that a file names, be it for its values, its types or later. */
export function findImports({ code, bare }: Source): Import[] {
  return forms.flatMap((form) =>
    [...code.matchAll(form)]
      // The word has to be code: a string may well hold the text of an import.
      .filter(({ index }) => /^[a-z]/.test(bare.slice(index)))
      .map((match) => ({ specifier: match[1] ?? "", line: lineAt(code, match.index) })),
  );
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/**
 * A place in the repository as the table of directions names it: `kit/pg/sql`, `protos/topic`, `checkin/domain/list`.
 * Services go by their own names, so that a new one needs no line anywhere.
 */
export interface Place {
  readonly home: string;
  readonly isService: boolean;
  /** Below src/, without the ending. */
  readonly inside: string;
}

const noServices = new Set(["cli", "gateway", "kit", "protos", "test", "testkit", "values"]);

/** Says where a file of the repository stands, or undefined when it belongs to no package. */
export function placeOf(path: string): Place | undefined {
  const match = /^(?:(services|packages)\/([^/]+)|(gateway|protos|test))\/(?:src\/)?(.*?)(?:\.[cm]?[jt]s)?$/.exec(path);
  if (match === null) return undefined;
  const [, kind, name, single, inside = ""] = match;
  return { home: name ?? single ?? "", isService: kind === "services", inside };
}

/** Says which place an import leads to, or undefined when it leads out of the repository. */
export function targetOf(path: string, specifier: string): Place | undefined {
  if (specifier.startsWith(".")) return placeOf(posix.join(posix.dirname(path), specifier));
  const match = /^@tessera\/([^/]+)(?:\/(.*))?$/.exec(specifier);
  if (match === null) return undefined;
  const [, home = "", inside = "index"] = match;
  return { home, isService: !noServices.has(home), inside };
}
