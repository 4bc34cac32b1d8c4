import { discard, hasBody } from "../body/read-bytes.ts";
import type { Middleware } from "../context.ts";

/** Reads away a body that nobody wanted, or has the connection closed when there is too much of it. */
export function finishRequests(): Middleware {
  return async (ctx, next) => {
    await next();
    if (ctx.req.complete || !hasBody(ctx.req)) return;
    await discard(ctx.req);
    if (!ctx.req.complete) ctx.set("Connection", "close");
  };
}
