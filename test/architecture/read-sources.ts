import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of the repository. */
export interface Source {
  /** From the root, with slashes. */
  readonly path: string;
  readonly text: string;
}

const skipped = new Set([".git", ".tessera", "coverage", "dist", "gen", "node_modules"]);
const binary = /\.(?:binpb|gz|ico|jpe?g|otf|pdf|png|tgz|ttf|webp|woff2?|zip)$/;

/** Reads every text file of the repository that no tool has generated. */
export function readSources(root: string): Source[] {
  const sources: Source[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (skipped.has(entry.name)) continue;
      if (entry.isDirectory()) {
        walk(path);
      } else if (entry.isFile() && !binary.test(entry.name)) {
        sources.push({ path, text: readFileSync(join(root, path), "utf8") });
      }
    }
  };
  walk("");
  return sources;
}
