import { setImmediate as turnOfLoop } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { runInContext } from "../context.ts";
import { inSlices } from "./in-slices.ts";

/** Keeps the processor busy. */
function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

describe("[C2.30] long work in slices", () => {
  it("lets everything else have its turn every few milliseconds", async () => {
    let handled = 0;
    let most = 0;
    const slices = inSlices(Array.from({ length: 40 }), () => {
      work(2);
      handled += 1;
    });
    for (let seen = 0; handled < 40; seen = handled) {
      await turnOfLoop();
      most = Math.max(most, handled - seen);
    }
    await slices;
    // Three make a slice. At the beginning two of them may come before the first turn.
    expect(most).toBeLessThanOrEqual(6);
  });

  it("ends when the caller no longer waits", async () => {
    const caller = new AbortController();
    let handled = 0;
    const slices = runInContext({ signal: caller.signal }, () =>
      inSlices(Array.from({ length: 1000 }), () => {
        work(1);
        handled += 1;
      }),
    );
    await turnOfLoop();
    caller.abort(new Error("gone"));
    await expect(slices).rejects.toThrow("gone");
    expect(handled).toBeLessThan(30);
  });
});
