import { fault } from "../faults.ts";
import type { Context } from "../http/context.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { httpStatus, type StatusName } from "../http/problem.ts";
import type { Step } from "../http/step.ts";
import { endpointTree, type FindByPath } from "./endpoint-tree.ts";
import { notFoundPage } from "./not-found-page.ts";

/** Finds the endpoint of a path, or answers that the path is unknown. */
export function findEndpoint(endpoints: readonly Endpoint[], { baseUrl }: { readonly baseUrl: () => string }): Step {
  const find = endpointTree(endpoints);
  return (ctx) => {
    const objection = objectToPath(ctx.path);
    if (objection !== undefined) throw fault("malformed_path", objection);
    const found = find(ctx.path);
    if (found === undefined) {
      answerNowhere(ctx, { find, baseUrl });
      return "answered";
    }
    const { endpoint, params } = found;
    ctx.state.endpoint = endpoint;
    ctx.state.params = params;
    ctx.res.setHeader("Allow", endpoint.allow);
    return undefined;
  };
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

/** Redirects a path that is almost that of a route, and answers 404 to all others. */
function answerNowhere(ctx: Context, { find, baseUrl }: { find: FindByPath; baseUrl: () => string }): void {
  const prefix = new URL(baseUrl()).pathname.replace(/\/$/, "");
  const docs = `${prefix}/docs`;
  if (ctx.path === "/docs/" && isRead(ctx)) redirect(ctx, { status: "movedPermanently", to: docs });
  else if (guessed.has(ctx.path) && isRead(ctx) && asksFor(ctx, "text/html"))
    redirect(ctx, { status: "found", to: docs });
  else if (isSlashMissing(ctx, find))
    redirect(ctx, { status: "movedPermanently", to: `${prefix}${ctx.path}/${ctx.search}` });
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
function isSlashMissing({ method, path }: Context, find: FindByPath): boolean {
  return redirected.has(method) && !path.endsWith("/") && find(`${path}/`) !== undefined;
}

/** Redirects without naming a host: a client on an internal address stays there, and keeps its credentials. */
function redirect(ctx: Context, { status, to }: { readonly status: StatusName; readonly to: string }): void {
  ctx.set("Location", to);
  // Without a body Koa makes it 204.
  ctx.body = null;
  ctx.status = httpStatus[status];
}
