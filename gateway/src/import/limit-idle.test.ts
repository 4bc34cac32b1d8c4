import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { limitIdle } from "./limit-idle.ts";

async function collect(source: AsyncIterable<Uint8Array>, { pauseMs = 0 } = {}): Promise<number> {
  let size = 0;
  for await (const piece of source) {
    size += piece.length;
    await wait(pauseMs);
  }
  return size;
}

describe("limitIdle", () => {
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
    await expect(collect(limitIdle(silent(), 50))).rejects.toMatchObject({ code: "body_too_slow" });
    await expect.poll(() => closed).toBe(true);
  });

  it("counts only the time that the stream takes", async () => {
    async function* quick() {
      for (let sent = 0; sent < 3; sent += 1) yield Buffer.from("a");
    }
    expect(await collect(limitIdle(quick(), 50), { pauseMs: 80 })).toBe(3);
  });
});
