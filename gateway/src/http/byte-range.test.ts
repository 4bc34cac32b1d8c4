import { expect, it } from "vitest";
import { namesTag, readRange } from "./byte-range.ts";

it.each([
  ["", "whole"],
  ["bytes=0-0", { first: 0, last: 0 }],
  ["bytes=5-", { first: 5, last: 99 }],
  ["bytes=-5", { first: 95, last: 99 }],
  ["bytes=-500", { first: 0, last: 99 }],
  ["bytes=90-500", { first: 90, last: 99 }],
  ["bytes=100-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=5-4", "whole"],
  ["bytes=0-1,5-6", "whole"],
  ["bytes=-", "whole"],
  ["items=0-1", "whole"],
  ["bytes=a-b", "whole"],
  [`bytes=${"9".repeat(20)}-`, "whole"],
])("of 100 bytes %j asks for %j", (header, expected) => {
  expect(readRange(header, 100)).toEqual(expected);
});

it.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ["*", true],
  ['"b"', false],
  ["a", false],
  ["", false],
])("%j names the tag: %j", (header, expected) => {
  expect(namesTag(header, '"a"')).toBe(expected);
});
