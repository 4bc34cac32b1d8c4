import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { batchCalls } from "./batch-calls.ts";

const never = new AbortController().signal;

const sizes = { sizeOf: (text: string) => text.length, mostBytes: 1000 };

/** Something that acts on what it is given when it is told to. */
function slowActor() {
  const begun: { readonly messages: readonly string[]; end(failure?: Error): void }[] = [];
  return {
    begun,
    act: (messages: readonly string[]) =>
      new Promise<void>((resolve, reject) => {
        begun.push({ messages, end: (failure) => (failure === undefined ? resolve() : reject(failure)) });
      }),
    async endAll() {
      await nextTurn();
      for (let next = 0; next < begun.length; next += 1) {
        begun[next]?.end();
        await nextTurn();
      }
    },
  };
}

describe("batching calls", () => {
  it("acts on what comes together at once, and on what comes meanwhile together when there is a place", async () => {
    const actor = slowActor();
    const add = batchCalls({ ...sizes, act: actor.act, isCommon: () => false, atOnce: 2, most: 10 });
    const added = ["a", "b"].map((name) => add([name], never));
    await nextTurn();
    added.push(add(["c"], never));
    await nextTurn();
    added.push(add(["d"], never));
    await nextTurn();
    added.push(add(["e"], never));
    await nextTurn();
    expect(actor.begun.map(({ messages }) => messages)).toEqual([["a", "b"], ["c"]]);
    actor.begun[1]?.end();
    await added[2];
    await nextTurn();
    expect(actor.begun[2]?.messages).toEqual(["d", "e"]);
    await actor.endAll();
    await Promise.all(added);
  });

  it("takes no more together than it may, and what is larger alone", async () => {
    const actor = slowActor();
    const add = batchCalls({ ...sizes, act: actor.act, isCommon: () => false, atOnce: 1, most: 3 });
    const added = [["a"], ["b", "c"], ["d"], ["e", "f", "g", "h"], ["i"]].map((names) => add(names, never));
    await actor.endAll();
    await Promise.all(added);
    expect(actor.begun.map(({ messages }) => messages.join(""))).toEqual(["abc", "d", "efgh", "i"]);
  });

  it("takes no more together than a size, and what is larger alone", async () => {
    const actor = slowActor();
    const add = batchCalls({ ...sizes, act: actor.act, isCommon: () => false, atOnce: 1, most: 10, mostBytes: 3 });
    const added = [["a"], ["bc"], ["d"], ["efghi"], ["j", "k"], ["l"]].map((names) => add(names, never));
    await actor.endAll();
    await Promise.all(added);
    expect(actor.begun.map(({ messages }) => messages.join(""))).toEqual(["abc", "d", "efghi", "jkl"]);
  });

  it("tells only those of a failure who have it alone, too", async () => {
    const acted: string[] = [];
    const gate = Promise.withResolvers<void>();
    const add = batchCalls<string>({
      ...sizes,
      async act(messages) {
        await gate.promise;
        if (messages.includes("poison")) throw new Error("cannot be acted on");
        acted.push(messages.join(""));
      },
      isCommon: () => false,
      atOnce: 1,
      most: 10,
    });
    const added = [add(["first"], never)];
    await nextTurn();
    added.push(...["a", "poison", "b"].map((name) => add([name], never)));
    gate.resolve();
    const outcomes = await Promise.allSettled(added);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(acted).toEqual(["first", "a", "b"]);
  });

  it("asks for no item twice when all would fail alike", async () => {
    let asked = 0;
    const add = batchCalls<string>({
      ...sizes,
      async act() {
        asked += 1;
        await nextTurn();
        throw new Error("the database is away");
      },
      isCommon: () => true,
      atOnce: 1,
      most: 10,
    });
    const outcomes = await Promise.allSettled(["a", "b", "c"].map((name) => add([name], never)));
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    expect(asked).toBe(1);
  });

  it("does not begin with what no caller waits for any more", async () => {
    const actor = slowActor();
    const add = batchCalls({ ...sizes, act: actor.act, isCommon: () => false, atOnce: 1, most: 10 });
    const revoked = new AbortController();
    const first = add(["a"], never);
    await nextTurn();
    const given = add(["b"], revoked.signal);
    const refused = given.catch((error: unknown) => error);
    const after = add(["c"], never);
    revoked.abort(new Error("the partition is another's"));
    await actor.endAll();
    await Promise.all([first, after]);
    expect(String(await refused)).toContain("another's");
    expect(actor.begun.map(({ messages }) => messages)).toEqual([["a"], ["c"]]);
  });
});
