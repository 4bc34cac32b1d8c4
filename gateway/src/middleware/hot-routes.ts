import findMyWay, { type HTTPMethod } from "find-my-way";
import { type Endpoint, routeFor } from "../http/endpoint.ts";

export interface Found {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the endpoint of a hot route; undefined for other routes. */
export type FindHot = (method: string, path: string) => Found | undefined;

/** Signed secrets have hundreds of characters; only the header limit bounds them. */
const longestParameter = 65_536;

interface HotEndpoint {
  readonly endpoint: Endpoint;
  /** The parameter that takes everything up to the suffix. */
  readonly rest: string | undefined;
  readonly suffix: string;
}

/** Finds hot routes in a radix tree, whose cost does not depend on the number of routes. */
export function hotRoutes(endpoints: readonly Endpoint[]): FindHot {
  const tree = findMyWay({ maxParamLength: longestParameter });
  for (const endpoint of endpoints) {
    for (const route of endpoint.routes.values()) {
      if (!route.hot) continue;
      const { pattern, rest, suffix } = toTreePath(endpoint.path);
      tree.on(route.method, pattern, () => {}, { endpoint, rest, suffix } satisfies HotEndpoint);
    }
  }
  return (method, path) => {
    const found = tree.find(method as HTTPMethod, path);
    if (found === null || found.store === undefined) return undefined;
    const { endpoint, rest, suffix } = found.store as HotEndpoint;
    if (routeFor(endpoint, method) === undefined) return undefined;
    const { "*": everything, ...params } = found.params as Record<string, string>;
    if (rest === undefined || everything === undefined) return { endpoint, params };
    // Compared undecoded: an encoded slash belongs to the value, not to the suffix.
    if (!path.endsWith(suffix) || everything.length <= suffix.length) return undefined;
    return { endpoint, params: { ...params, [rest]: everything.slice(0, -suffix.length) } };
  };
}

/** The tree allows such a parameter only at the end of a path: the suffix is compared afterwards. */
function toTreePath(path: string): { pattern: string; rest: string | undefined; suffix: string } {
  const [, before, rest, suffix] = /^(.*)\{(\w+)\+\}(.*)$/.exec(path) ?? [];
  const pattern = (before ?? path).replaceAll(/\{(\w+)\}/g, ":$1");
  return rest === undefined ? { pattern, rest, suffix: "" } : { pattern: `${pattern}*`, rest, suffix: suffix ?? "" };
}
