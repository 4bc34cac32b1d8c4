import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * Compares code that was just generated with the committed code; returns what differs, or an empty text.
 *
 * @param {{ fresh: string, committed: string }} folders
 */
export function compareGenerated(folders) {
  const [fresh, committed] = [readTree(folders.fresh), readTree(folders.committed)];
  const paths = [...new Set([...fresh.keys(), ...committed.keys()])].sort();
  const differing = paths.filter((path) => fresh.get(path) !== committed.get(path));
  if (differing.length === 0) return "";
  const lines = differing.map((path) => {
    const state = !committed.has(path) ? "is missing" : fresh.has(path) ? "differs" : "has no source";
    return `  protos/gen/${path} ${state}`;
  });
  const advice = "protos/gen is not what the .proto files generate: run `npm run generate` and commit the result.";
  return [advice, ...lines].join("\n");
}

/** @param {string} folder */
function readTree(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [relative(folder, path), readFileSync(path, "utf8")]));
}
