import { Fault } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Context } from "./context.ts";
import { httpStatus, isFailure, toProblem } from "./problem.ts";

export function answerProblem(ctx: Context, error: unknown, log: Log): void {
  if (ctx.res.destroyed) {
    // Only the log reads this status: the client has disconnected.
    ctx.status = httpStatus.clientDisconnected;
    return;
  }
  const { headers, body, ...problem } = toProblem(error);
  const status = httpStatus[problem.status];
  const route = ctx.state.endpoint?.template;
  if (error instanceof Fault) ctx.state.refusal = error.code;
  if (!(error instanceof Fault)) log.error("request failed", { route, error });
  else if (isFailure(status)) log.warn("request could not be served", { route, error });
  ctx.set({ ...headers });
  ctx.status = status;
  ctx.body = body;
}
