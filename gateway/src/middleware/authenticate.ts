import { readAuthorization } from "../access/authorization.ts";
import type { Directory } from "../access/directory.ts";
import type { Middleware } from "../http/context.ts";

/** Finds the caller, except on public endpoints. */
export function authenticate(directory: Directory): Middleware {
  return async (ctx, next) => {
    const { endpoint } = ctx.state;
    if (endpoint?.isPublic === false) {
      ctx.state.caller = await directory.authenticate(readAuthorization(ctx.get("Authorization")));
    }
    await next();
  };
}
