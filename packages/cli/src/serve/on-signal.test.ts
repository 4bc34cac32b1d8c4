import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endOnSignal, onSignal } from "./on-signal.ts";

const names = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

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

  it.each(names)("request an orderly stop: %s", async (name) => {
    const { requested, signal } = onSignal();
    process.emit(name);
    await requested;
    expect(signal.aborted).toBe(true);
    expect(process.exit).not.toHaveBeenCalled();
  });

  it("request it once, also where npm passes on the Ctrl-C that the terminal has sent", async () => {
    const { requested, signal } = onSignal();
    expect(signal.aborted).toBe(false);
    process.emit("SIGINT");
    await requested;
    expect(signal.aborted).toBe(true);
    vi.advanceTimersByTime(200);
    process.emit("SIGINT");
    expect(process.exit).not.toHaveBeenCalled();
  });

  it("are waited for while the terminal, or the reader of a pipe, is gone", () => {
    onSignal();
    process.emit("SIGHUP");
    for (const stream of [process.stdout, process.stderr])
      expect(() => stream.emit("error", new Error("EIO"))).not.toThrow();
  });

  it("end a process that has nothing to stop", () => {
    endOnSignal();
    process.emit("SIGINT");
    expect(process.exit).toHaveBeenCalledWith(130);
  });

  it.each([
    ["SIGHUP", 129],
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
