import { describe, expect, it } from "vitest";
import { poll } from "./poll.ts";

const signal = new AbortController().signal;

describe("polling", () => {
  it("ends with the first yes, also after failures", async () => {
    const answers = [() => false, () => Promise.reject(new Error("away")), () => true];
    expect(await poll(async () => answers.shift()?.() ?? false, { until: Date.now() + 5000, signal })).toBe(true);
    expect(answers).toEqual([]);
  });

  it("ends when the time is over, also where nothing is answered at all", async () => {
    expect(await poll(async () => false, { until: Date.now() + 30, signal })).toBe(false);
    expect(await poll(() => new Promise(() => {}), { until: Date.now() + 30, signal })).toBe(false);
  });

  it("ends when its signal aborts", async () => {
    const gone = new AbortController();
    const waiting = poll(async () => false, { until: Date.now() + 60_000, signal: gone.signal });
    gone.abort();
    expect(await waiting).toBe(false);
  });
});
