import { discard, hasBody } from "../body/read-bytes.ts";
import type { Middleware } from "../http/context.ts";

/** Reads and drops a body that no handler has read, or closes the connection if the body is too large. */
export function finishRequests(): Middleware {
  return async (ctx, next) => {
    await next();
    if (ctx.req.complete || !hasBody(ctx.req)) return;
    await discard(ctx.req);
    if (!ctx.req.complete) ctx.set("Connection", "close");
  };
}
