import findMyWay from "find-my-way";
import type { Endpoint } from "../http/endpoint.ts";

export interface Found {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the endpoint of a path; undefined: there is nothing at this path. */
export type FindByPath = (path: string) => Found | undefined;

/** Signed secrets have hundreds of characters; only the header limit bounds them. */
const longestParameter = 65_536;

/** An endpoint whose parameter `rest` takes everything up to the suffix. */
interface Candidate {
  readonly endpoint: Endpoint;
  readonly pattern: string;
  readonly rest: string | undefined;
  readonly suffix: string;
}

/**
 * Puts endpoints into a radix tree, whose cost does not depend on their number. Methods are no matter of the tree: all are in that of GET.
 * Values are decoded once, after the path was split, so `%2F` stays inside its value.
 */
export function endpointTree(endpoints: readonly Endpoint[]): FindByPath {
  const tree = findMyWay({ maxParamLength: longestParameter });
  for (const [pattern, candidates] of Map.groupBy(endpoints.map(toCandidate), (each) => each.pattern))
    tree.on("GET", pattern, () => {}, candidates);
  return (path) => {
    // The tree takes any other path for an absolute address.
    const found = path.startsWith("/") ? tree.find("GET", path) : null;
    if (found === null) return undefined;
    const { "*": everything = "", ...params } = found.params as Record<string, string>;
    // Compared undecoded: an encoded slash belongs to the value, not to the suffix.
    const candidate = (found.store as Candidate[]).find(({ suffix }) => path.endsWith(suffix));
    if (candidate === undefined) return undefined;
    const { endpoint, rest, suffix } = candidate;
    if (rest !== undefined) params[rest] = everything.slice(0, -suffix.length);
    return Object.values(params).includes("") ? undefined : { endpoint, params };
  };
}

/** The tree allows such a parameter only at the end of a path: the suffix is compared afterwards. */
function toCandidate(endpoint: Endpoint): Candidate {
  const [, before, rest, suffix] = /^(.*)\{(\w+)\+\}(.*)$/.exec(endpoint.path) ?? [];
  const pattern = (before ?? endpoint.path).replaceAll(/\{(\w+)\}/g, ":$1");
  return { endpoint, pattern: rest === undefined ? pattern : `${pattern}*`, rest, suffix: suffix ?? "" };
}
