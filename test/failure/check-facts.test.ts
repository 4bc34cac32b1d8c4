import { describe, expect, it } from "vitest";
import { type ArrivedFact, checkFacts, type WrittenFact } from "./check-facts.ts";

const written: WrittenFact[] = [
  { id: "f1", topic: "t", key: "a", place: 1 },
  { id: "f2", topic: "t", key: "b", place: 2 },
  { id: "f3", topic: "t", key: "a", place: 3 },
  { id: "f4", topic: "nobody", key: "a", place: 4 },
];
const consumers = new Map([["t", ["one", "two"]]]);

function check(one: readonly string[], two: readonly string[], waiting = 0): string[] {
  const arrived = (consumer: string, ids: readonly string[]): ArrivedFact[] => ids.map((id) => ({ consumer, id }));
  return checkFacts({ written, arrived: [...arrived("one", one), ...arrived("two", two)], consumers, waiting });
}

describe("facts", () => {
  it("may arrive before earlier ones of other keys", () => {
    expect(check(["f1", "f2", "f3"], ["f2", "f1", "f3"])).toEqual([]);
  });

  it.each<[string, string[], number, RegExp]>([
    ["lost", ["f1", "f2"], 0, /two never got 1 of 3 facts, for instance of a/],
    ["doubled", ["f1", "f2", "f2", "f3"], 0, /two acted on 1 facts twice/],
    ["disordered", ["f3", "f2", "f1"], 0, /two got 1 facts before older ones/],
    ["invented", ["f1", "f2", "f3", "f9"], 0, /two got 1 facts that were never committed/],
    ["misled", ["f1", "f2", "f3", "f4"], 0, /two got 1 facts that were never committed/],
    ["stuck", ["f1", "f2", "f3"], 2, /2 facts still wait/],
  ])("that are %s are found", (_name, two, waiting, text) => {
    const found = check(["f1", "f2", "f3"], two, waiting);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(text);
  });
});
