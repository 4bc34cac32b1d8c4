import { setTimeout as pause } from "node:timers/promises";
import { isCollected } from "@tessera/testkit/collect-garbage";
import { afterEach, describe, expect, it } from "vitest";
import type { Oddity } from "../testing/odd-program.ts";
import { programBeside, Thread, type ThreadOptions } from "./thread.ts";

const opened: Thread<Oddity, unknown>[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((thread) => thread.end()));
});

function open(options: Partial<ThreadOptions> = {}) {
  const program = programBeside(import.meta.url, "../testing/odd-program");
  const thread = new Thread<Oddity, unknown>({ program, maxLoadMs: 10_000, ...options });
  opened.push(thread);
  const ask = (oddity: Oddity, maxMs = 10_000, signal?: AbortSignal) => thread.ask(oddity, { maxMs, signal });
  return { thread, ask };
}

describe("a thread", () => {
  it("answers one request after the other", async () => {
    const { ask } = open();
    const answers = await Promise.all([ask("answer"), ask("answer"), ask("answer")]);
    expect(answers).toEqual([expect.any(String), answers[0], answers[0]]);
  });

  it.each([
    ["works too long", "work for ever", {}, "too slow"],
    ["throws", "throw", { cause: { message: "odd" } }, "failed"],
    ["exits", "exit", {}, "ended"],
    ["needs too much memory", "fill the memory", {}, "too much memory"],
  ] as const)("that %s fails, and the next request has another", async (_name, oddity, more, trouble) => {
    const { ask } = open({ maxHeap: 16 });
    const first = await ask("answer");
    const [failed, next] = [ask(oddity, oddity === "work for ever" ? 20 : 10_000), ask("answer")];
    await expect(failed).rejects.toMatchObject({ trouble, ...more });
    expect(await next).not.toBe(first);
  });

  it("keeps no answer that its caller has let go", async () => {
    const { ask } = open();
    const answer = new WeakRef((await ask("answer with much")) as object);
    expect(await isCollected(answer)).toBe(true);
  });

  it("that does not begin in time is late", async () => {
    await expect(open({ maxLoadMs: 100 }).ask("load for ever")).rejects.toMatchObject({ trouble: "late" });
  });

  it("that dies without work is replaced", async () => {
    const { ask } = open();
    const first = await ask("die later");
    await expect.poll(() => ask("answer").catch(() => first)).not.toBe(first);
  });

  it("that is ended while it works fails its request, and can be asked again", async () => {
    const { thread, ask } = open();
    await ask("answer");
    const failed = ask("work for ever").catch((error: unknown) => error);
    await pause(20);
    await thread.end();
    expect(await failed).toMatchObject({ trouble: "ended" });
    expect(await ask("answer")).toEqual(expect.any(String));
  });

  it("finishes what its caller no longer waits for, as long as it may; what the caller has left is not begun", async () => {
    const { ask } = open();
    const first = await ask("answer");
    const gone = new AbortController();
    const given = ask("answer", 10_000, gone.signal).catch((error: unknown) => error);
    await Promise.resolve();
    gone.abort(new Error("gone"));
    expect(await given).toMatchObject({ trouble: "left" });
    expect(await ask("answer")).toBe(first);
    const leaving = new AbortController();
    const requests = (["work for ever", "answer"] as const).map((oddity) =>
      ask(oddity, 50, leaving.signal).catch((error: unknown) => error),
    );
    await pause(20);
    leaving.abort(new Error("gone"));
    expect(await Promise.all(requests)).toMatchObject([{ trouble: "left" }, { trouble: "left" }]);
    expect(await ask("answer")).not.toBe(first);
  });

  it("ends when it has had no work for a while", async () => {
    const { ask } = open({ idleMs: 1 });
    const first = await ask("answer");
    await pause(50);
    expect(await ask("answer")).not.toBe(first);
  });
});
