import type { Log } from "@tessera/kit/telemetry/log";
import { finishBody, isFinished } from "../body/read-bytes.ts";
import { answerProblem } from "../http/answer-problem.ts";
import type { Context } from "../http/context.ts";
import type { Step } from "../http/step.ts";

/** Headers of every answer. None allows other origins (CORS), so browsers refuse pages of other hosts. */
const usualHeaders = Object.entries({
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  // Answers belong to one key and may change at any time. Counts change without `Last-Modified`, so a browser that
  // revalidates a cached answer would show old counts.
  "Cache-Control": "private, no-store",
  Vary: "Accept, Accept-Language",
  "Content-Language": "en",
});

export interface WholeAnswerOptions {
  readonly isLeaving: () => boolean;
  readonly log: Log;
}

/** Runs the steps, and completes the answer: common headers, errors, the connection, and its end during shutdown. */
export function answerWholly(steps: Step, { isLeaving, log }: WholeAnswerOptions) {
  return async (ctx: Context): Promise<void> => {
    for (const [name, value] of usualHeaders) ctx.res.setHeader(name, value);
    try {
      const outcome = steps(ctx);
      if (outcome instanceof Promise) await outcome;
    } catch (error) {
      answerProblem(ctx, error, log);
    }
    if (!isFinished(ctx.req) && !(await finishBody(ctx.req))) ctx.set("Connection", "close");
    if (isLeaving() && !ctx.headerSent) ctx.set("Connection", "close");
  };
}
