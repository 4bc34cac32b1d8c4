import type { Fault } from "@tessera/kit/fault";
import type { Directory } from "../access/directory.ts";
import { hasEventAccess, mayUse } from "../access/may-use.ts";
import { fault } from "../faults.ts";
import type { Middleware } from "../http/context.ts";
import { routesLike } from "../http/endpoint.ts";

/**
 * Lets a caller use the methods of a path that its rights open. An unknown
 * organizer, an unknown event, no access, a missing permission and a profile
 * without the route get the same answer: it does not show what exists.
 */
export function authorize(directory: Directory): Middleware {
  return async (ctx, next) => {
    const { endpoint, caller, params = {} } = ctx.state;
    if (endpoint === undefined || endpoint.isPublic) {
      await next();
      return;
    }
    if (caller === undefined || !mayUse(caller, routesLike(endpoint, ctx.method))) throw forbidden();
    const { organizer, event } = params;
    if (organizer !== undefined && event !== undefined) {
      if (!hasEventAccess(caller, organizer, event) || !(await directory.hasEvent(organizer, event))) throw forbidden();
    }
    await next();
  };
}

function forbidden(): Fault {
  return fault("forbidden", "These credentials do not allow this.");
}
