import { describe, expect, it } from "vitest";
import { FieldProblems } from "./field-problems.ts";

describe("FieldProblems", () => {
  it("gathers messages by field, each once, whatever the field is called", () => {
    const problems = new FieldProblems();
    expect(problems.isEmpty).toBe(true);
    for (const field of ["name", "constructor", "__proto__"]) {
      for (const message of ["too long", "too long", "not a text"]) problems.add(field, message);
    }
    expect(problems.isEmpty).toBe(false);
    expect(Object.entries(problems.toErrors())).toEqual([
      ["name", ["too long", "not a text"]],
      ["constructor", ["too long", "not a text"]],
      ["__proto__", ["too long", "not a text"]],
    ]);
  });

  it("tells a hundred and counts the rest", () => {
    const problems = new FieldProblems();
    for (let at = 0; at < 99; at += 1) problems.add(`field${at}`, "wrong");
    expect(problems.isFull).toBe(false);
    problems.add("non_field_errors", "contradictory");
    expect(problems.isFull).toBe(true);
    expect(problems.toErrors()["non_field_errors"]).toEqual(["contradictory"]);
    for (let at = 0; at < 1000; at += 1) problems.add("list", `wrong ${at}`);
    const errors = problems.toErrors();
    expect(Object.keys(errors)).toHaveLength(100);
    expect(errors["non_field_errors"]).toEqual(["contradictory", "and 1000 more"]);
  });
});
