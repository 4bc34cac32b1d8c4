import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { acceptTraceparent, childTraceparent, currentContext, runInContext } from "./context.ts";

const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const wellFormed = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

describe("runInContext", () => {
  it("reaches everything the work awaits, and nothing beside it", async () => {
    const seen = await Promise.all(
      [1, 2, 3].map((deadline) =>
        runInContext({ deadline }, async () => {
          await sleep(5 * (4 - deadline));
          return currentContext().deadline;
        }),
      ),
    );
    expect(seen).toEqual([1, 2, 3]);
    expect(currentContext()).toEqual({});
  });

  it("replaces the context it is called in", () => {
    const inner = runInContext({ traceparent: valid, deadline: 1 }, () =>
      runInContext({ deadline: 2 }, currentContext),
    );
    expect(inner).toEqual({ deadline: 2 });
  });
});

describe("childTraceparent", () => {
  it("keeps trace and flags and makes a new span", () => {
    const child = childTraceparent(valid);
    expect(child).toMatch(wellFormed);
    expect(child.slice(0, 36)).toBe(valid.slice(0, 36));
    expect(child.slice(36, 52)).not.toBe(valid.slice(36, 52));
    expect(child.slice(-2)).toBe("01");
    expect(childTraceparent(`${valid.slice(0, -2)}00`).slice(-2)).toBe("00");
  });

  it("makes a new trace each time where there is none", () => {
    const roots = new Set(Array.from({ length: 100 }, () => childTraceparent(undefined).slice(3, 35)));
    expect(roots.size).toBe(100);
    for (const root of roots) expect(`00-${root}-${"1".repeat(16)}-01`).toMatch(wellFormed);
  });
});

describe("acceptTraceparent", () => {
  it("takes a valid id over as it is", () => {
    expect(acceptTraceparent(valid)).toBe(valid);
  });

  it("reads the four known fields of a later version", () => {
    expect(acceptTraceparent(`cc${valid.slice(2)}-what-the-future-holds`)).toBe(valid);
  });

  it.each([
    ["nothing", undefined],
    ["an empty one", ""],
    ["capitals", valid.toUpperCase()],
    ["a trace of zeros", `00-${"0".repeat(32)}-b7ad6b7169203331-01`],
    ["a span of zeros", `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01`],
    ["version ff", `ff${valid.slice(2)}`],
    ["a fifth field in version 00", `${valid}-more`],
    ["a line break", `${valid}\n`],
    ["a very long one", `cc${valid.slice(2)}-${"x".repeat(10_000)}`],
  ])("makes a new root of %s", (_what, received) => {
    const root = acceptTraceparent(received);
    expect(root).toMatch(wellFormed);
    expect(root.slice(3, 35)).not.toBe(valid.slice(3, 35));
  });
});
