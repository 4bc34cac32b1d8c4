import { readAuthorization } from "../access/authorization.ts";
import type { Caller } from "../access/caller.ts";
import type { Directory } from "../access/directory.ts";
import type { Context } from "../http/context.ts";
import type { Step } from "../http/step.ts";

export function authenticate(directory: Directory): Step {
  return (ctx) => {
    if (ctx.state.endpoint?.isPublic !== false) return undefined;
    const found = directory.authenticate(readAuthorization(ctx.req.headers.authorization ?? ""));
    return found instanceof Promise ? found.then((caller) => enter(ctx, caller)) : enter(ctx, found);
  };
}

function enter({ state }: Context, caller: Caller): undefined {
  state.caller = caller;
}
