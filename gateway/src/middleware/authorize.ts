import type { Fault } from "@tessera/kit/fault";
import type { Directory } from "../access/directory.ts";
import { hasEventAccess, hasOrganizerAccess, mayUse } from "../access/may-use.ts";
import { fault } from "../faults.ts";
import { notAllowed } from "../http/answers.ts";
import type { Context } from "../http/context.ts";
import { isPublic, routesLike } from "../http/endpoint.ts";
import type { Step } from "../http/step.ts";

/** One step decides whether a request is forbidden, another refuses it. In between kept answers are repeated. */
type AccessSteps = readonly [decide: Step, refuse: Step];

/**
 * Lets a caller use the methods that its rights allow. An unknown organizer, an unknown event, no access, a missing
 * permission and an excluded profile get the same answer, which does not reveal what exists.
 */
export function authorize(directory: Directory): AccessSteps {
  return [
    (ctx) => {
      const allowed = isAllowed(ctx, directory);
      return allowed instanceof Promise
        ? allowed.then((later) => note(ctx, { isAllowed: later }))
        : note(ctx, { isAllowed: allowed });
    },
    ({ state }) => {
      if (state.forbidden !== undefined) throw state.forbidden;
      return undefined;
    },
  ];
}

function note({ state }: Context, { isAllowed }: { readonly isAllowed: boolean }): undefined {
  if (!isAllowed) state.forbidden = forbidden();
}

function isAllowed(
  { method, state }: Pick<Context, "method" | "state">,
  directory: Directory,
): boolean | Promise<boolean> {
  const { endpoint, caller, params = {} } = state;
  if (endpoint === undefined || isPublic(endpoint, method)) return true;
  const routes = routesLike(endpoint, method);
  if (caller === undefined || !mayUse(caller, routes)) return false;
  const { organizer, event } = params;
  if (organizer === undefined || caller.kind === "operator") return true;
  if (event === undefined) return hasOrganizerAccess(caller, organizer, routes);
  return hasEventAccess(caller, organizer, event) && directory.hasEvent(organizer, event);
}

function forbidden(): Fault {
  return fault("forbidden", notAllowed);
}
