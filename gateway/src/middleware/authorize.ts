import { Fault } from "@tessera/kit/fault";
import type { Directory } from "../access/directory.ts";
import { mayEnter, mayUse } from "../access/may-use.ts";
import type { Middleware } from "../context.ts";

/**
 * Lets pass who may use this place with this method. Unknown organizer, unknown
 * event, no access, missing permission and a profile without the route answer
 * alike, so that nobody learns what there is.
 */
export function authorize(directory: Directory): Middleware {
  return async (ctx, next) => {
    const { place, caller, params = {} } = ctx.state;
    if (place === undefined || place.isPublic) {
      await next();
      return;
    }
    if (caller === undefined || !mayUse(caller, place, ctx.method)) throw forbidden();
    const { organizer, event } = params;
    if (organizer !== undefined && event !== undefined) {
      if (!mayEnter(caller, organizer, event) || !(await directory.hasEvent(organizer, event))) throw forbidden();
    }
    await next();
  };
}

function forbidden(): Fault {
  return new Fault("forbidden", "forbidden", "These credentials do not allow this.");
}
