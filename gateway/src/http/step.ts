import type { Context } from "./context.ts";

/** Undefined: the next step follows. Or the step has answered, and no other follows. */
export type Outcome = undefined | "answered";

/**
 * One step of the pipeline; it throws a Fault to refuse the request. A synchronous step returns no promise: each
 * promise costs as much as a step.
 */
export type Step = (ctx: Context) => Outcome | Promise<Outcome>;

/** Runs steps in order, until one has answered. */
export function inOrder(steps: readonly Step[]): Step {
  const from = (first: number, ctx: Context): Outcome | Promise<Outcome> => {
    for (let at = first; at < steps.length; at += 1) {
      const outcome = steps[at]?.(ctx);
      if (outcome === "answered") return outcome;
      if (outcome !== undefined) return outcome.then((later) => later ?? from(at + 1, ctx));
    }
    return undefined;
  };
  return (ctx) => from(0, ctx);
}
