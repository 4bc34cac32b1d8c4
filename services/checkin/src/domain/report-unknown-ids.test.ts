import { describe, expect, it } from "vitest";
import { reportUnknownIds } from "./report-unknown-ids.ts";

const ids = (length: number) => Array.from({ length }, (_, index) => index + 1);

describe("reportUnknownIds", () => {
  it("names each id and its kind", () => {
    expect(reportUnknownIds([4711], "date")).toEqual(['Invalid id "4711": this event has no such date.']);
    expect(reportUnknownIds([], "date")).toEqual([]);
    expect(reportUnknownIds(ids(50), "item").at(-1)).toContain('"50"');
  });

  it("names the first fifty of very many, and counts the others", () => {
    const reported = reportUnknownIds(ids(51), "item");
    expect([reported.length, reported.at(-1)]).toEqual([51, "and 1 more"]);
  });
});
