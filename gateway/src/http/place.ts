import type { HttpMethod, Route } from "./route.ts";

/** A path with all its methods. */
export interface Place {
  readonly path: string;
  readonly routes: ReadonlyMap<HttpMethod, Route>;
  /** The Allow header of every answer. */
  readonly allow: string;
  /** Asks for no credentials. A place is public as a whole or not at all. */
  readonly isPublic: boolean;
  /** Media types that answers of this place may have. */
  readonly produces: readonly string[];
}

/** Gathers the routes of each path, in the order of the map. */
export function toPlaces(routes: readonly Route[]): readonly Place[] {
  const paths = new Map<string, Map<HttpMethod, Route>>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? new Map<HttpMethod, Route>();
    if (methods.has(route.method)) throw new Error(`${route.method} ${route.path} is declared twice`);
    paths.set(route.path, methods.set(route.method, route));
  }
  return Array.from(paths, ([path, methods]) => ({
    path,
    routes: methods,
    allow: [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", "),
    isPublic: Array.from(methods.values()).every(({ access }) => access.kind === "public"),
    produces: [...new Set(Array.from(methods.values(), (route) => route.produces ?? "application/json").flat())],
  }));
}

/** Finds the route of a method. HEAD is GET without the body. */
export function routeFor(place: Place, method: string): Route | undefined {
  return place.routes.get((method === "HEAD" ? "GET" : method) as HttpMethod);
}

/** The routes whose right to be used decides on a method that the place does not have: those of its class, else all. */
export function routesLike(place: Place, method: string): readonly Route[] {
  const exact = routeFor(place, method);
  if (exact !== undefined) return [exact];
  const all = [...place.routes.values()];
  const sameClass = all.filter((route) => isSafe(route.method) === isSafe(method));
  return sameClass.length > 0 ? sameClass : all;
}

function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
