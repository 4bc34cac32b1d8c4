import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { blankCode, blankSqlComments } from "./blank-code.ts";

/** A file of the repository, and what is left of it for the rules to look at. Line numbers agree in all three. */
export interface Source {
  /** From the root, with slashes. */
  readonly path: string;
  readonly text: string;
  /** Without comments. */
  readonly code: string;
  /** Without comments and without what stands in strings, templates and regular expressions. */
  readonly bare: string;
}

/** In a worktree of its own `.git` is a file. */
const skipped = new Set([".git", ".tessera", "coverage", "dist", "gen", "node_modules"]);
const binary = /\.(?:binpb|gz|ico|jpe?g|otf|pdf|png|tgz|ttf|webp|woff2?|zip)$/;

/** Reads every text file of the repository that a person has written. */
export function readSources(root: string): Source[] {
  const sources: Source[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (skipped.has(entry.name)) continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile() && !binary.test(entry.name)) {
        sources.push(toSource(path, readFileSync(join(root, path), "utf8")));
      }
    }
  };
  walk("");
  return sources;
}

export function toSource(path: string, text: string): Source {
  if (/\.[cm]?[jt]s$/.test(path)) return { path, text, ...blankCode(text) };
  if (path.endsWith(".sql")) {
    const code = blankSqlComments(text);
    return { path, text, code, bare: code };
  }
  return { path, text, code: text, bare: text };
}

export function isTypeScript({ path }: Source): boolean {
  return path.endsWith(".ts");
}

/** Tests, and what is there for tests only. */
export function isForTests({ path }: Source): boolean {
  return path.endsWith(".test.ts") || /^(?:test|packages\/testkit)\//.test(path);
}
