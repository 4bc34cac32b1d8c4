import { posix } from "node:path";
import type { Source } from "./read-sources.ts";

/** The most files at the root of a part, without tests: further ones belong into folders. */
const mostAtRoot = 7;

const root = /^(?:gateway|services\/[^/]+|packages\/(?:cli|engines|kit))\/src\/[^/]+\.ts$/;
const ofService = /^(?:gateway|services\/[^/]+)\/src\/.*\.ts$/;

const ofStore = /^(?:gateway|services\/[^/]+)\/src\/store\/[^/]+\.ts$/;

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
  return paths.filter((path) => isStatements(path) && !known.has(storeFileOf(path)));
}

/** A name for a part of SQL of several lines, or of parameters. */
const part = /\bconst (\w+) = (?:sql`[^`]*\n|\(.*\)(?:: Sql)? =>\s+sql`)|\bfunction (\w+)\([^{]*\): Sql \{/g;

/** What a store file takes from another one; the keys are parts of one line. */
const taken = /^import \{([^}]+)\} from "\.\/(?!keys\.ts)/gm;

/** What asks the database. */
const asking = /\b(?:db|tx)\.(?:many|maybeOne|one|run)\b/;

/** Finds store files that make statements of parts, and have no written ones. */
export function findUnwrittenStatements(sources: readonly Source[]): string[] {
  const written = new Set(sources.flatMap(({ path }) => (isStatements(path) ? storeFileOf(path) : [])));
  const stores = sources.filter(({ path }) => ofStore.test(path) && !isTest(path) && !written.has(path));
  return stores.filter(({ text }) => asking.test(text) && isOfParts(text)).map(({ path }) => path);
}

function isOfParts(text: string): boolean {
  if (/\? sql`|\bjoinSql\(/.test(text)) return true;
  const own = [...text.matchAll(part)].map(([, constant, made]) => new RegExp(`\\$\\{${constant ?? made}\\b`));
  const others = [...text.matchAll(taken)].flatMap(([, names = ""]) =>
    names.split(/[,\s]+/).filter((name) => name !== ""),
  );
  return [...own, ...others.map((name) => new RegExp(`\\$\\{${name}\\(`))].some((use) => use.test(text));
}

const isStatements = (path: string) => /\/store\/statements\/[^/]+\.sql$/.test(path);
const storeFileOf = (path: string) => path.replace("/statements/", "/").replace(/\.sql$/, ".ts");
