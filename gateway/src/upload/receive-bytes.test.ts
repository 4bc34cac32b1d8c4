import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { receiveBytes } from "./receive-bytes.ts";

const limits = { maxBytes: 4, idleMs: 1000, maxMs: 1000, leastRate: { bytes: 1, fromMs: 1000 } };

async function* pieces(texts: readonly string[], pauseMs = 0): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (pauseMs > 0) await sleep(pauseMs);
    yield Buffer.from(text);
  }
}

describe("a body", () => {
  it("passes whole", async () => {
    expect((await buffer(receiveBytes(pieces(["ab", "", "cd"]), limits))).toString()).toBe("abcd");
    expect(await buffer(receiveBytes(pieces([]), limits))).toHaveLength(0);
  });

  it("ends where it is too large", async () => {
    await expect(buffer(receiveBytes(pieces(["ab", "cde"]), limits))).rejects.toMatchObject({ code: "file_too_large" });
  });

  it("may pause when much of it has come", async () => {
    const slow = receiveBytes(pieces(["abcd", ""], 60), { ...limits, leastRate: { bytes: 20, fromMs: 70 } });
    expect((await buffer(slow)).toString()).toBe("abcd");
  });

  it.each([
    ["pauses for too long", { idleMs: 30 }, "paused"],
    ["takes too long altogether", { maxMs: 130 }, "within"],
    ["arrives too slowly from some time on", { leastRate: { bytes: 100, fromMs: 100 } }, "bytes per second"],
  ])("[S4.18] ends where it %s", async (_name, narrower, message) => {
    const slow = receiveBytes(pieces(["a", "b", "c"], 60), { ...limits, ...narrower });
    await expect(buffer(slow)).rejects.toMatchObject({
      code: "body_too_slow",
      message: expect.stringMatching(message),
    });
  });
});
