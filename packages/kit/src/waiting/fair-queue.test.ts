import { expect, it } from "vitest";
import { FairQueue } from "./fair-queue.ts";

function filled(parties: Readonly<Record<string, readonly string[]>>): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const [party, items] of Object.entries(parties)) for (const item of items) queue.push(party, item);
  return queue;
}

it("takes one item of each party in turn, each in its order", () => {
  const queue = filled({ a: ["a1", "a2", "a3", "a4"], b: ["b1"], c: ["c1", "c2"] });
  expect(queue.take(5)).toEqual(["a1", "b1", "c1", "a2", "c2"]);
  expect(queue.size).toBe(2);
  expect(queue.take(5)).toEqual(["a3", "a4"]);
  expect(queue.size).toBe(0);
});

it("begins with the party that waits longest for its turn", () => {
  const queue = filled({ a: ["a1", "a2", "a3"], b: ["b1", "b2"], c: ["c1"] });
  expect(queue.take(1)).toEqual(["a1"]);
  expect(queue.take(1)).toEqual(["b1"]);
  expect(queue.take(1)).toEqual(["c1"]);
  expect(queue.take(1)).toEqual(["a2"]);
});

it("makes no party wait for two items of another party, whatever comes between", () => {
  const steps = ["a", "b", "c", "take"] as const;
  const length = 7;
  const unfair: string[] = [];
  for (let code = 0; code < steps.length ** length; code += 1) {
    const queue = new FairQueue<string>();
    let last: string | undefined;
    /** Whose items were under way or taken, for each party whose first item waits. */
    const seenBy = new Map<string, string[]>();
    for (let place = 0; place < length; place += 1) {
      const step = steps[Math.floor(code / steps.length ** place) % steps.length] ?? "take";
      if (step !== "take") {
        if (queue.sizeOf(step) === 0 && last !== step) seenBy.set(step, last === undefined ? [] : [last]);
        queue.push(step, step);
        continue;
      }
      [last] = queue.take(1);
      if (last === undefined) continue;
      seenBy.delete(last);
      for (const [first, seen] of seenBy) {
        if (seen.includes(last)) unfair.push(`${first} waits for two items of ${last}: ${code}`);
        seen.push(last);
      }
    }
  }
  expect(unfair).toEqual([]);
});

it("leaves items in their place and drops others without counting them", () => {
  const queue = filled({ a: ["left", "dropped", "a1", "a2"], b: ["left", "b1"] });
  const choose = (item: string) => (item === "left" ? "leave" : item === "dropped" ? "drop" : "take");
  expect(queue.take(2, choose)).toEqual(["a1", "b1"]);
  expect(queue.size).toBe(3);
  expect([queue.sizeOf("a"), queue.sizeOf("b"), queue.sizeOf("c")]).toEqual([2, 1, 0]);
  expect(queue.take(9)).toEqual(["left", "left", "a2"]);
});

it("takes heavy items in their order, and fewer of them", () => {
  const queue = filled({ a: ["a heavy", "a1", "a2"], b: ["b heavy", "b1"] });
  const take = () =>
    queue.take(
      4,
      () => "take",
      (item) => (item.includes("heavy") ? 3 : 1),
    );
  expect([take(), take()]).toEqual([
    ["a heavy", "b heavy"],
    ["a1", "b1", "a2"],
  ]);
});

it("puts items back in front", () => {
  const queue = filled({ a: ["a3"] });
  queue.putBack("a", ["a1", "a2"]);
  expect(queue.take(9)).toEqual(["a1", "a2", "a3"]);
});

it("begins the next time with a party whose items were left", () => {
  const queue = filled({ a: ["a1", "a2", "a3"], b: ["b1"] });
  const oneAtATime = () => {
    let isFull = false;
    return queue.take(9, () => {
      if (isFull) return "leave";
      isFull = true;
      return "take";
    });
  };
  expect([oneAtATime(), oneAtATime(), oneAtATime(), oneAtATime()]).toEqual([["a1"], ["b1"], ["a2"], ["a3"]]);
  expect(queue.size).toBe(0);
});
