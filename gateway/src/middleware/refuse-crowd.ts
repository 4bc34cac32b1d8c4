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
    ({ method, state }) => {
      const { endpoint, caller, params, forbidden } = state;
      const route = endpoint === undefined ? undefined : routeFor(endpoint, method);
      const isAsked = route?.crowd !== undefined && caller !== undefined && forbidden === undefined;
      if (!isAsked || caller.kind === "operator") return undefined;
      const refusal = route.crowd?.refuse({ organizer: params?.["organizer"] ?? "", tenant: caller });
      if (refusal !== undefined) state.overLimit ??= refusal;
      return undefined;
    },
    ({ state }) => {
      if (state.overLimit !== undefined) throw state.overLimit;
      return undefined;
    },
  ];
}
