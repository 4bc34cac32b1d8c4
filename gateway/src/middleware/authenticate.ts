import { readCredentials } from "../access/authorization.ts";
import type { Caller } from "../access/caller.ts";
import type { Directory } from "../access/directory.ts";
import type { Context } from "../http/context.ts";
import { isPublic } from "../http/endpoint.ts";
import type { Step } from "../http/step.ts";

export function authenticate(directory: Directory): Step {
  return (ctx) => {
    const { endpoint } = ctx.state;
    if (endpoint === undefined || isPublic(endpoint, ctx.method)) return undefined;
    const found = directory.authenticate(readCredentials(ctx.req.headers));
    return found instanceof Promise ? found.then((caller) => enter(ctx, caller)) : enter(ctx, found);
  };
}

function enter({ state }: Context, caller: Caller): undefined {
  state.caller = caller;
}
