import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { onSignal } from "./on-signal.ts";

const names = ["SIGINT", "SIGTERM"] as const;

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("signals", () => {
  const before = new Map(names.map((name) => [name, process.listeners(name)]));
  afterEach(() => {
    for (const name of names)
      for (const listener of process.listeners(name))
        if (before.get(name)?.includes(listener) !== true) process.off(name, listener);
  });

  it("request an orderly stop, once, also where npm passes on the Ctrl-C that the terminal has sent", async () => {
    const { requested, signal } = onSignal();
    expect(signal.aborted).toBe(false);
    process.emit("SIGINT");
    await requested;
    expect(signal.aborted).toBe(true);
    vi.advanceTimersByTime(200);
    process.emit("SIGINT");
    expect(process.exit).not.toHaveBeenCalled();
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("end the process when they are repeated later: %s", (name, status) => {
    onSignal();
    process.emit("SIGINT");
    vi.advanceTimersByTime(1500);
    process.emit(name);
    expect(process.exit).toHaveBeenCalledWith(status);
  });
});
