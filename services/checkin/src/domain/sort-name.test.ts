import { expect, it } from "vitest";
import { toSortName } from "./sort-name.ts";

it("sorts names without regard to case, by their first hundred characters", () => {
  expect(toSortName("Ann LEE")).toBe("ann lee");
  expect(toSortName("🎫".repeat(150))).toBe("🎫".repeat(100));
  expect([toSortName(""), toSortName(null), toSortName(undefined)]).toEqual([null, null, null]);
});
