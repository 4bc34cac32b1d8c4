import { describe, expect, it } from "vitest";
import { splitRuns } from "./split-runs.ts";

const split = (records: string) =>
  splitRuns(
    records.split(" ").filter((text) => text !== ""),
    {
      group: (record) => record.slice(0, 1),
      keys: (record) => record.slice(1).split("+"),
    },
  ).map((run) => run.join(" "));

describe("splitRuns", () => {
  it.each([
    ["nothing", "", []],
    ["one group", "a1 a2 a3", ["a1 a2 a3"]],
    ["a change of group", "a1 a2 b1 a3", ["a1 a2", "b1", "a3"]],
    ["a key that comes again", "a1 a2 a1 a3", ["a1 a2", "a1 a3"]],
    ["a key that comes again at once", "a1 a1 a1", ["a1", "a1", "a1"]],
    ["keys of which one comes again", "a1+2 a3 a4+2 a1", ["a1+2 a3", "a4+2 a1"]],
    ["the same key in another group", "a1 b1", ["a1", "b1"]],
  ])("splits %s", (_name, records, runs) => {
    expect(split(records)).toEqual(runs);
  });
});
