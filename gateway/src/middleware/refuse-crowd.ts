import type { Fault } from "@tessera/kit/fault";
import type { Context } from "../http/context.ts";
import { routeFor } from "../http/endpoint.ts";
import type { Step } from "../http/step.ts";

/** Notes what a route refuses whatever the request says, in one step, and refuses it in another. Between them, kept answers are repeated. */
type CrowdSteps = readonly [note: Step, refuse: Step];

/**
 * Refuses requests that are too many, before their bodies are read: those beyond a rate limit, and those that a route
 * has no room for.
 */
export function refuseCrowd(): CrowdSteps {
  return [
    (ctx) => {
      const refusal = ctx.state.forbidden === undefined ? findRefusal(ctx) : undefined;
      if (refusal !== undefined) ctx.state.overLimit ??= refusal;
      return undefined;
    },
    ({ state }) => {
      if (state.overLimit !== undefined) throw state.overLimit;
      return undefined;
    },
  ];
}

/** Why the route of a request has no room for its caller. */
function findRefusal({ method, state }: Pick<Context, "method" | "state">): Fault | undefined {
  const { endpoint, caller, params } = state;
  const crowd = endpoint === undefined ? undefined : routeFor(endpoint, method)?.crowd;
  if (crowd === undefined || caller === undefined || caller.kind === "operator") return undefined;
  return crowd({ organizer: params?.["organizer"] ?? "", tenant: caller });
}
