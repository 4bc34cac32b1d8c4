import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeRejections, writeRejections } from "./rejections.ts";

const unknownItem = (line: number) => ({
  line,
  kind: "order",
  errors: { "positions.0.item": ["Item 999 is not known."] },
});
const noJson = { line: 7, kind: null, errors: { non_field_errors: ["The line is not valid JSON."] } };

it("[R7.18] tells equal rejections once, the most frequent first, with the first lines", () => {
  const errors = [noJson, ...[1, 98, 195, 200].map(unknownItem)];
  expect(describeRejections({ errors, rejected: 5 })).toEqual([
    "4 × order: positions.0.item: Item 999 is not known, lines 1, 98, 195 …",
    "line 7: non_field_errors: The line is not valid JSON.",
  ]);
});

it("[R7.18] counts what it does not tell", () => {
  const errors = Array.from({ length: 30 }, (_, index) => ({ ...noJson, line: index + 1, kind: `kind${index}` }));
  const told = describeRejections({ errors, rejected: 2000 });
  expect(told).toHaveLength(21);
  expect(told.at(-1)).toBe("… 1980 more");
});

it("[R7.18] writes a line of JSON per rejection", () => {
  const folder = mkdtempSync(join(tmpdir(), "rejections-"));
  const file = join(folder, "errors.ndjson");
  writeRejections(file, [unknownItem(1), noJson]);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  rmSync(folder, { recursive: true });
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([unknownItem(1), noJson]);
  expect(() => writeRejections(join(folder, "none", "x"), [])).toThrow("name another file with --errors");
});
