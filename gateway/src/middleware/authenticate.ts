import { readAuthorization } from "../access/authorization.ts";
import type { Directory } from "../access/directory.ts";
import type { Middleware } from "../http/context.ts";

/** Finds the caller. Public places need none. */
export function authenticate(directory: Directory): Middleware {
  return async (ctx, next) => {
    const { place } = ctx.state;
    if (place?.isPublic === false) {
      ctx.state.caller = await directory.authenticate(readAuthorization(ctx.get("Authorization")));
    }
    await next();
  };
}
