import { expect, it } from "vitest";
import { placesOf } from "./currency-places.ts";

it.each([
  ["EUR", 2],
  ["JPY", 0],
  ["KWD", 3],
  ["", 2],
])("amounts in %s have %i places", (currency, places) => {
  expect(placesOf(currency)).toBe(places);
});
