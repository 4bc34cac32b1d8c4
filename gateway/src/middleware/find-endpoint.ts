import { Router } from "@koa/router";
import findMyWay, { type HTTPMethod } from "find-my-way";
import type Koa from "koa";
import { fault } from "../faults.ts";
import type { Context, State } from "../http/context.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { routeFor } from "../http/endpoint.ts";
import type { Outcome, Step } from "../http/step.ts";
import { notFoundPage } from "./not-found-page.ts";

/** The result for a path. */
interface Found {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Finds the endpoint of a path, or answers that the path is unknown.
 *
 * Hot routes are in a radix tree ahead of the router, which tries one path
 * after the other; both are filled from the same declarations. A value is
 * decoded after the path was split, once, so `%2F` stays inside its value.
 */
export function findEndpoint(endpoints: readonly Endpoint[], { baseUrl }: { baseUrl: () => string }): Step {
  const hot = hotRouter(endpoints);
  const router = new Router<State>({ strict: true, sensitive: true });
  for (const endpoint of endpoints) {
    router.all(toRouterPath(endpoint.path), (ctx, next) => {
      // Of several endpoints that match, the first in the map counts.
      if (ctx.state.endpoint === undefined) enter(ctx, { endpoint, params: ctx.params });
      return next();
    });
  }

  const walk = router.routes() as Koa.Middleware<State>;
  const goOn = async () => {};

  /** Answers a path that no endpoint has. */
  function leave(ctx: Context): Outcome {
    const { endpoint } = ctx.state;
    if (endpoint === undefined) {
      answerNowhere(ctx, { router, baseUrl });
      return "answered";
    }
    ctx.res.setHeader("Allow", endpoint.allow);
    return undefined;
  }

  return (ctx) => {
    requireReadablePath(ctx);
    const found = hot(ctx.method, ctx.path);
    if (found === undefined) return (walk(ctx, goOn) as Promise<unknown>).then(() => leave(ctx));
    enter(ctx, found);
    return leave(ctx);
  };
}

function enter(ctx: { state: State }, { endpoint, params }: Found): void {
  ctx.state.endpoint = endpoint;
  ctx.state.params = params;
}

/** Refuses a path that cannot be decoded, and one that no stored value can match. */
function requireReadablePath(ctx: Context): void {
  if (!ctx.path.includes("%")) return;
  let decoded: string;
  try {
    decoded = decodeURIComponent(ctx.path);
  } catch {
    throw fault("malformed_path", "The path is not percent-encoded UTF-8.");
  }
  if (decoded.includes("\0")) throw fault("malformed_path", "The path holds a null character.");
}

const redirected = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

/** Redirects a read to the path with a last slash; not a write, because clients would repeat it as a read. */
function answerNowhere(ctx: Context, { router, baseUrl }: { router: Router<State>; baseUrl: () => string }): void {
  const slashed = `${ctx.path}/`;
  if (!redirected.has(ctx.method) || ctx.path.endsWith("/") || router.match(slashed, "GET").path.length === 0) {
    notFoundPage(ctx);
    return;
  }
  const { pathname } = new URL(baseUrl());
  ctx.status = 301;
  // Without a host: a client on an internal address stays there, and keeps its credentials.
  ctx.set("Location", `${pathname.replace(/\/$/, "")}${slashed}${ctx.search}`);
  ctx.body = null;
  ctx.status = 301;
}

/** `{name}` is a segment, `{name+}` one or more. */
function toRouterPath(path: string): string {
  return path.replaceAll(/\{(\w+)\+\}/g, "*$1").replaceAll(/\{(\w+)\}/g, ":$1");
}

/** Signed secrets have hundreds of characters; only the limit of the header bounds them. */
const longestParameter = 65_536;

interface HotEndpoint {
  readonly endpoint: Endpoint;
  /** The parameter that takes everything up to the suffix. */
  readonly rest: string | undefined;
  readonly suffix: string;
}

function hotRouter(endpoints: readonly Endpoint[]): (method: string, path: string) => Found | undefined {
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
    // Compared as sent: an encoded slash belongs to the value, not to the suffix.
    if (!path.endsWith(suffix) || everything.length <= suffix.length) return undefined;
    return { endpoint, params: { ...params, [rest]: everything.slice(0, -suffix.length) } };
  };
}

/** The tree supports such a parameter only at the end of a path: the rest is compared afterwards. */
function toTreePath(path: string): { pattern: string; rest: string | undefined; suffix: string } {
  const [, before, rest, suffix] = /^(.*)\{(\w+)\+\}(.*)$/.exec(path) ?? [];
  const pattern = (before ?? path).replaceAll(/\{(\w+)\}/g, ":$1");
  return rest === undefined ? { pattern, rest, suffix: "" } : { pattern: `${pattern}*`, rest, suffix: suffix ?? "" };
}
