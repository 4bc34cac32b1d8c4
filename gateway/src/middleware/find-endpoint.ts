import { Router } from "@koa/router";
import type Koa from "koa";
import { fault } from "../faults.ts";
import type { Context, State } from "../http/context.ts";
import type { Endpoint } from "../http/endpoint.ts";
import type { Outcome, Step } from "../http/step.ts";
import type { FindHot, Found } from "./hot-routes.ts";
import { notFoundPage } from "./not-found-page.ts";

/**
 * Finds the endpoint of a path, or answers that the path is unknown.
 *
 * Hot routes are in a radix tree before the router, which tries one path after the other; both are filled from the same
 * declarations. Values are decoded once, after the path was split, so `%2F` stays inside its value.
 */
export function findEndpoint(
  endpoints: readonly Endpoint[],
  { findHot, baseUrl }: { readonly findHot: FindHot; readonly baseUrl: () => string },
): Step {
  const router = new Router<State>({ strict: true, sensitive: true });
  for (const endpoint of endpoints) {
    router.all(toRouterPath(endpoint.path), (ctx, next) => {
      // Of several matching endpoints the first in the map counts.
      if (ctx.state.endpoint === undefined) enter(ctx, { endpoint, params: ctx.params });
      return next();
    });
  }

  const walk = router.routes() as Koa.Middleware<State>;
  const goOn = async () => {};

  /** Answers an unknown path. */
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
    const objection = objectToPath(ctx.path);
    if (objection !== undefined) throw fault("malformed_path", objection);
    const found = findHot(ctx.method, ctx.path);
    if (found === undefined) return (walk(ctx, goOn) as Promise<unknown>).then(() => leave(ctx));
    enter(ctx, found);
    return leave(ctx);
  };
}

function enter(ctx: { state: State }, { endpoint, params }: Found): void {
  ctx.state.endpoint = endpoint;
  ctx.state.params = params;
}

/** Why a path cannot be decoded, or matches no possible value. */
function objectToPath(path: string): string | undefined {
  if (!path.includes("%")) return undefined;
  try {
    return decodeURIComponent(path).includes("\0") ? "The path holds a null character." : undefined;
  } catch {
    return "The path is not percent-encoded UTF-8.";
  }
}

const redirected = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

/** Where people look for an interface. */
const guessed = new Set(["/api", "/api/", "/api/v1", "/api/v1/"]);

/** Sends on who is near something, and tells all others that the path is unknown. */
function answerNowhere(ctx: Context, { router, baseUrl }: { router: Router<State>; baseUrl: () => string }): void {
  const prefix = new URL(baseUrl()).pathname.replace(/\/$/, "");
  const docs = `${prefix}/docs`;
  if (ctx.path === "/docs/" && isRead(ctx)) redirect(ctx, { status: 301, to: docs });
  else if (guessed.has(ctx.path) && isRead(ctx) && asksFor(ctx, "text/html")) redirect(ctx, { status: 302, to: docs });
  else if (isSlashMissing(ctx, router)) redirect(ctx, { status: 301, to: `${prefix}${ctx.path}/${ctx.search}` });
  else if (asksFor(ctx, "application/json") && !asksFor(ctx, "text/html")) {
    throw fault(
      "unknown_address",
      `There is nothing at this address: ${docs} lists all; their paths end with a slash.`,
    );
  } else notFoundPage(ctx, docs);
}

function isRead({ method }: Context): boolean {
  return method === "GET" || method === "HEAD";
}

/** Whether the Accept header names a type. Scanners name none. */
function asksFor(ctx: Context, type: string): boolean {
  return (ctx.req.headers.accept ?? "").toLowerCase().includes(type);
}

/** A write is not sent on, because clients would repeat it as a read. */
function isSlashMissing({ method, path }: Context, router: Router<State>): boolean {
  return redirected.has(method) && !path.endsWith("/") && router.match(`${path}/`, "GET").path.length > 0;
}

/** Redirects without naming a host: a client on an internal address stays there, and keeps its credentials. */
function redirect(ctx: Context, { status, to }: { readonly status: number; readonly to: string }): void {
  ctx.set("Location", to);
  // Without a body Koa makes it 204.
  ctx.body = null;
  ctx.status = status;
}

/** `{name}` is a segment, `{name+}` one or more. */
function toRouterPath(path: string): string {
  return path.replaceAll(/\{(\w+)\+\}/g, "*$1").replaceAll(/\{(\w+)\}/g, ":$1");
}
