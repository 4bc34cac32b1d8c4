import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answerAll, heldCalls, numbered, reasonOf, scan, unavailable } from "../../testing/held-calls.ts";

describe("scans whose callers wait no more", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  it("are refused without having been sent", async () => {
    const { calls, redeem } = heldCalls();
    const results = ["x", "y", "late"].map((lookup) => redeem(scan(lookup, "n")));
    vi.setSystemTime(Date.now() + 8001);
    calls[0]?.answer();
    calls[1]?.answer();
    await expect(results[2]).rejects.toMatchObject({ kind: "unavailable" });
    expect(calls).toHaveLength(2);
    await Promise.all(results.slice(0, 2));
  });

  it("are not tried again either", async () => {
    const { calls, redeem } = heldCalls();
    const result = redeem(scan("x", "n"));
    vi.setSystemTime(Date.now() + 8001);
    calls[0]?.fail(unavailable());
    await expect(result).rejects.toMatchObject({ kind: "unavailable" });
    expect(calls).toHaveLength(1);
  });

  it("are refused when their time is over, whatever their call does", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout"] });
    const { calls, redeem } = heldCalls();
    const results = ["x", "y", "later"].map((lookup) => redeem(scan(lookup, "n")));
    const refused = Promise.all(results.map((result) => expect(result).rejects.toMatchObject({ kind: "unavailable" })));
    vi.advanceTimersByTime(8000);
    await refused;
    expect(calls).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("are never sent after their time, though the clock was set back, and hold up no scan of their code", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout"] });
    const { calls, redeem } = heldCalls();
    // So many that the last one still waits after eight seconds of calls that take long.
    const flood = ["o", "p"].flatMap((organizer) =>
      ["1", "2", "3"].flatMap((credential) =>
        numbered(400).map((lookup) => redeem(scan(`${credential}-${lookup}`, "n", `${organizer}${credential}`))),
      ),
    );
    const last = redeem(scan("last", "n", "o1"));
    const refused = Promise.all(
      [...flood, last].map((result) => expect(result).rejects.toMatchObject({ kind: "unavailable" })),
    );
    vi.advanceTimersByTime(7999);
    vi.setSystemTime(Date.now() - 1000);
    vi.advanceTimersByTime(1);
    await refused;
    vi.useRealTimers();
    const again = redeem(scan("last", "m", "o1"));
    await answerAll(calls);
    expect(reasonOf(await again)).toBe("last");
    expect(calls.flatMap(({ lookups }) => lookups).filter((lookup) => lookup === "last")).toHaveLength(1);
  }, 10_000);
});
