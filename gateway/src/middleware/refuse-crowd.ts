import type { Fault } from "@tessera/kit/fault";
import type { Context } from "../http/context.ts";
import { routeFor } from "../http/endpoint.ts";
import type { Step } from "../http/step.ts";

/** One step notes refusals by load, another refuses. In between kept answers are repeated. */
type CrowdSteps = readonly [note: Step, refuse: Step];

/** Refuses requests before their bodies are read (load shedding): beyond a rate limit, or if the route has no room. */
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

function findRefusal({ method, state }: Pick<Context, "method" | "state">): Fault | undefined {
  const { endpoint, caller, params } = state;
  const crowd = endpoint === undefined ? undefined : routeFor(endpoint, method)?.crowd;
  if (crowd === undefined || caller === undefined || caller.kind === "operator") return undefined;
  return crowd({ organizer: params?.["organizer"] ?? "", tenant: caller });
}
