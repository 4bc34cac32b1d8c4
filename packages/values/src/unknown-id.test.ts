import { expect, it } from "vitest";
import { unknownId } from "./unknown-id.ts";

it("[A8.9] an unknown id is told with what it should be", () => {
  expect(unknownId(7, "date")).toBe('Invalid id "7": this event has no such date.');
});
