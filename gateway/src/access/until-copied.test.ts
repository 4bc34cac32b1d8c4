import { describe, expect, it } from "vitest";
import { untilCopied } from "./until-copied.ts";

const signal = new AbortController().signal;

describe("waiting for our copy", () => {
  it("ends as soon as it is there, whatever came before", async () => {
    const answers = [() => false, () => Promise.reject(new Error("away")), () => true];
    expect(await untilCopied(async () => answers.shift()?.() ?? false, { ms: 5000, signal })).toBe(true);
    expect(answers).toEqual([]);
  });

  it("ends when the time is over, also where nothing is answered at all", async () => {
    expect(await untilCopied(async () => false, { ms: 30, signal })).toBe(false);
    expect(await untilCopied(() => new Promise(() => {}), { ms: 30, signal })).toBe(false);
  });

  it("ends when nobody waits any more", async () => {
    const gone = new AbortController();
    const waiting = untilCopied(async () => false, { ms: 60_000, signal: gone.signal });
    gone.abort();
    expect(await waiting).toBe(false);
  });
});
