import { expect, it } from "vitest";
import { leastUsages } from "./min-usages.ts";

it.each([
  ["all of the minimum the first time", 3, 0, 3],
  ["the rest of it afterwards", 3, 1, 2],
  ["one when the minimum was reached", 3, 3, 1],
  ["one when more were redeemed", 3, 9, 1],
  ["one where there is no minimum", 0, 0, 1],
])("asks for %s", (_name, minUsages, redeemed, expected) => {
  expect(leastUsages({ minUsages, redeemed })).toBe(expected);
});
