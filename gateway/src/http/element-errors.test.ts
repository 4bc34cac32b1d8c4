import { Fault, type FieldErrors } from "@tessera/kit/fault";
import { describe, expect, it } from "vitest";
import { alignElementErrors, alignErrorsIn, unwrapElementErrors } from "./element-errors.ts";
import { toProblem } from "./problem.ts";

const said = (fields: FieldErrors) => new Fault("invalid", "not_so", "some are wrong", { fields });
const shownOf = (fields: FieldErrors, count: number) => toProblem(alignElementErrors(said(fields), count)).body;

describe("the errors of a list that a service tells", () => {
  it("stand in the place of their element", () => {
    expect(shownOf({ "1.code": ["a", "b"], "1.item": ["c"], "2.non_field_errors": ["d"] }, 4)).toEqual([
      {},
      { code: ["a", "b"], item: ["c"] },
      { non_field_errors: ["d"] },
      {},
    ]);
  });

  it("keep what belongs to no element with the last wrong one", () => {
    const fields = { "2.code": ["a"], "0.code": ["b"], non_field_errors: ["and 7 more"], "9.code": ["c"] };
    expect(shownOf(fields, 3)).toEqual([
      { code: ["b"] },
      {},
      { code: ["a"], non_field_errors: ["and 7 more"], "9.code": ["c"] },
    ]);
    expect(shownOf({ "0.non_field_errors": ["a"], non_field_errors: ["and 7 more"] }, 1)).toEqual([
      { non_field_errors: ["a", "and 7 more"] },
    ]);
  });

  it("are left as they are if no element is wrong", () => {
    const whole = said({ non_field_errors: ["not now"] });
    expect(alignElementErrors(whole, 3)).toBe(whole);
    const refused = new Fault("conflict", "locked", "busy");
    expect(alignElementErrors(refused, 3)).toBe(refused);
    const bug = new TypeError("a bug");
    expect(alignElementErrors(bug, 3)).toBe(bug);
  });
});

describe("the errors of a list of one that a service tells", () => {
  it("are those of the element", () => {
    const fields = { "0.code": ["a"], "0.non_field_errors": ["b"], non_field_errors: ["and 7 more"] };
    expect(toProblem(unwrapElementErrors(said(fields)))).toMatchObject({
      status: "invalid",
      body: { code: ["a"], non_field_errors: ["b", "and 7 more"] },
    });
    const whole = said({ code: ["a"] });
    expect(unwrapElementErrors(whole)).toBe(whole);
  });
});

describe("the errors of a list in a field", () => {
  const inField = (fields: FieldErrors) => toProblem(alignErrorsIn("asks", said(fields), 2)).body;

  it("stand under its name, beside those of other fields", () => {
    const fields = { "asks.1.code": ["a"], reservation: ["b"], asks: ["too many"], non_field_errors: ["and 7 more"] };
    expect(inField(fields)).toEqual({
      reservation: ["b"],
      asks: [{}, { code: ["a"], asks: ["too many"], non_field_errors: ["and 7 more"] }],
    });
  });

  it("are left as they are if no element is wrong", () => {
    expect(inField({ asks: ["This field is required."] })).toEqual({ asks: ["This field is required."] });
  });
});
