import { expect, it } from "vitest";
import { currentContext, runInContext } from "../context.ts";
import { shareAnswers } from "./share-answers.ts";

const options = { keptMs: 50, longestMs: 5000, most: 2 };

it("gives all who ask within the time one answer", async () => {
  const share = shareAnswers<number>(options);
  let read = 0;
  const ask = () => share("a", async () => ++read);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  await expect.poll(ask).toBe(2);
});

it("keeps keys apart, and so many of them", async () => {
  const share = shareAnswers<string>({ ...options, keptMs: 60_000 });
  let read = 0;
  const ask = (key: string) => share(key, async () => `${key}${++read}`);
  for (const key of ["a", "b", "c"]) await ask(key);
  expect([await ask("c"), await ask("b"), await ask("a")]).toEqual(["c3", "b2", "a4"]);
});

it("waits for an answer that takes longer than it is kept", async () => {
  const share = shareAnswers<number>({ ...options, keptMs: 1 });
  const slow = Promise.withResolvers<number>();
  const first = share("a", () => slow.promise);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const second = share("a", async () => 2);
  slow.resolve(1);
  expect(await Promise.all([first, second])).toEqual([1, 1]);
});

it("does not keep a failure", async () => {
  const share = shareAnswers<string>({ ...options, keptMs: 60_000 });
  await expect(share("a", () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(await share("a", async () => "back")).toBe("back");
});

it("reads on when the first who asked leaves", async () => {
  const share = shareAnswers<boolean>(options);
  const caller = new AbortController();
  const answer = runInContext({ signal: caller.signal }, () =>
    share("a", async () => {
      caller.abort();
      return currentContext().signal?.aborted === true;
    }),
  );
  expect(await answer).toBe(false);
});
