import { readAuthorization } from "../access/authorization.ts";
import type { Directory } from "../access/directory.ts";
import type { Middleware } from "../context.ts";
import type { Place } from "../place.ts";

/** Finds out who is calling. Public places do not ask. */
export function authenticate(directory: Directory): Middleware {
  return async (ctx, next) => {
    const { place } = ctx.state;
    if (place !== undefined && !isPublic(place)) {
      ctx.state.caller = await directory.authenticate(readAuthorization(ctx.get("Authorization")));
    }
    await next();
  };
}

/** A place is public as a whole or not at all. */
export function isPublic(place: Place): boolean {
  return [...place.routes.values()].every(({ access }) => access.kind === "public");
}
