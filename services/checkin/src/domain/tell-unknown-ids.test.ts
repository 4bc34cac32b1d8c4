import { describe, expect, it } from "vitest";
import { tellUnknownIds } from "./tell-unknown-ids.ts";

const ids = (length: number) => Array.from({ length }, (_, index) => index + 1);

describe("tellUnknownIds", () => {
  it("names each id and what it is not", () => {
    expect(tellUnknownIds([4711], "date")).toEqual(['Invalid id "4711": this event has no such date.']);
    expect(tellUnknownIds([], "date")).toEqual([]);
    expect(tellUnknownIds(ids(50), "item").at(-1)).toContain('"50"');
  });

  it("names the first fifty of very many, and counts the others", () => {
    const told = tellUnknownIds(ids(51), "item");
    expect([told.length, told.at(-1)]).toEqual([51, "and 1 more"]);
  });
});
