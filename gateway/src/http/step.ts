import type { Context } from "./context.ts";

/** Nothing: the next step goes on. Or the step has answered the request, and no other follows. */
export type Outcome = undefined | "answered";

/**
 * One step of answering a request; it throws a Fault to refuse it. A step that waits for nothing returns no promise: all
 * requests pass all steps, and each promise costs as much as a step.
 */
export type Step = (ctx: Context) => Outcome | Promise<Outcome>;

/** Runs steps one after the other, until one has answered. */
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
