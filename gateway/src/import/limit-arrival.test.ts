import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { limitArrival } from "./limit-arrival.ts";

async function collect(source: AsyncIterable<Uint8Array>, pause: () => unknown = () => {}): Promise<number> {
  let size = 0;
  for await (const piece of source) {
    size += piece.length;
    await pause();
  }
  return size;
}

const running = new AbortController().signal;

afterEach(() => {
  vi.useRealTimers();
});

describe("limitArrival", () => {
  it("ends a stream that has fallen silent", async () => {
    let closed = false;
    async function* silent() {
      try {
        yield Buffer.from("a");
        await wait(150);
        yield Buffer.from("b");
      } finally {
        closed = true;
      }
    }
    await expect(collect(limitArrival(silent(), { maxMs: 50, stopping: running }))).rejects.toMatchObject({
      code: "body_too_slow",
    });
    await expect.poll(() => closed).toBe(true);
  });

  it("counts only the time that the stream takes", async () => {
    vi.useFakeTimers();
    async function* quick() {
      for (let sent = 0; sent < 3; sent += 1) yield Buffer.from("a");
    }
    const pieces = limitArrival(quick(), { maxMs: 50, stopping: running });
    expect(await collect(pieces, () => vi.advanceTimersByTimeAsync(80))).toBe(3);
  });

  it("ends a stream when the process has to stop", async () => {
    const stopping = new AbortController();
    async function* endless() {
      for (;;) {
        yield Buffer.from("a");
        await wait(20);
      }
    }
    const collecting = collect(limitArrival(endless(), { maxMs: 5000, stopping: stopping.signal }));
    setTimeout(() => stopping.abort(), 50);
    await expect(collecting).rejects.toMatchObject({ kind: "unavailable", code: "stopping" });
    await expect(collect(limitArrival(endless(), { maxMs: 5000, stopping: stopping.signal }))).rejects.toMatchObject({
      code: "stopping",
    });
  });
});
