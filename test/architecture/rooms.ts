import { posix } from "node:path";

/** The most files at the root of a part, without tests: further ones belong into folders. */
const mostAtRoot = 7;

const root = /^(?:gateway|services\/[^/]+|packages\/(?:cli|engines|kit))\/src\/[^/]+\.ts$/;
const ofService = /^(?:gateway|services\/[^/]+)\/src\/.*\.ts$/;

/** Each resource of the gateway has files with the same names. */
const ofResource = /^gateway\/src\/routes\/[^/]+\/(?:examples|present|routes|schema)\.ts$/;
const isTest = (path: string) => path.endsWith(".test.ts");

/** Finds folders `src` with too many files of their own, each with how many. */
export function findFullRoots(paths: readonly string[]): string[] {
  const files = paths.filter((path) => root.test(path) && !isTest(path));
  return [...Map.groupBy(files, posix.dirname)]
    .filter(([, own]) => own.length > mostAtRoot)
    .map(([folder, own]) => `${folder}: ${own.length}`);
}

/** Finds files of one service that have one name. An `index.ts` is the list of its folder. */
export function findTwins(paths: readonly string[]): string[] {
  const files = paths.filter((path) => ofService.test(path) && !isTest(path) && !ofResource.test(path));
  const named = files.filter((path) => posix.basename(path) !== "index.ts");
  return [...Map.groupBy(named, (path) => `${path.split("/src/")[0]} ${posix.basename(path)}`).values()]
    .filter((twins) => twins.length > 1)
    .map((twins) => twins.join(", "));
}

/** Finds written statements whose store file has another name, or is gone. */
export function findStrayStatements(paths: readonly string[]): string[] {
  const known = new Set(paths);
  return paths.filter((path) => /\/store\/statements\/[^/]+\.sql$/.test(path) && !known.has(storeFileOf(path)));
}

const storeFileOf = (path: string) => path.replace("/statements/", "/").replace(/\.sql$/, ".ts");
