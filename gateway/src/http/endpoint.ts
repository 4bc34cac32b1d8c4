import type { HttpMethod, Route } from "./route.ts";

export interface Endpoint {
  readonly path: string;
  /** The path template, as in logs, metrics and traces. */
  readonly template: string;
  readonly routes: ReadonlyMap<HttpMethod, Route>;
  /** The Allow header of every answer. */
  readonly allow: string;
  /** Which of its routes are used without authentication. */
  readonly isPublic: "all" | "some" | "none";
  /** Media types of the answers of this endpoint. */
  readonly produces: readonly string[];
}

/** Groups routes by path, in the order of the map. */
export function toEndpoints(routes: readonly Route[]): readonly Endpoint[] {
  const paths = new Map<string, Map<HttpMethod, Route>>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? new Map<HttpMethod, Route>();
    if (methods.has(route.method)) throw new Error(`${route.method} ${route.path} is declared twice`);
    paths.set(route.path, methods.set(route.method, route));
  }
  return Array.from(paths, ([path, methods]) => ({
    path,
    template: path.replaceAll("+}", "}"),
    routes: methods,
    allow: [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", "),
    isPublic: publicOf([...methods.values()]),
    produces: [...new Set(Array.from(methods.values(), (route) => route.produces ?? "application/json").flat())],
  }));
}

/** Finds the route of a method. HEAD is GET without the body. */
export function routeFor(endpoint: Endpoint, method: string): Route | undefined {
  return endpoint.routes.get((method === "HEAD" ? "GET" : method) as HttpMethod);
}

/** The routes whose rights apply to a method. Without any: routes that read or write like it; else all. */
export function routesLike(endpoint: Endpoint, method: string): readonly Route[] {
  const exact = routeFor(endpoint, method);
  if (exact !== undefined) return [exact];
  const all = [...endpoint.routes.values()];
  const sameClass = all.filter((route) => isSafe(route.method) === isSafe(method));
  return sameClass.length > 0 ? sameClass : all;
}

export function isPublic(endpoint: Endpoint, method: string): boolean {
  if (endpoint.isPublic !== "some") return endpoint.isPublic === "all";
  return publicOf(routesLike(endpoint, method)) === "all";
}

function publicOf(routes: readonly Route[]): Endpoint["isPublic"] {
  const open = routes.filter(({ access }) => access.kind === "public").length;
  return open === 0 ? "none" : open === routes.length ? "all" : "some";
}

function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
