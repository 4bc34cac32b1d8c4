import { integer, object, text } from "@tessera/schema/build";
import { describe, expect, it } from "vitest";
import { listBodyOf } from "./list-body.ts";
import { bodyOf } from "./route.ts";

const people = listBodyOf(bodyOf(object({ name: text({ default: "" }), age: integer() }, { required: ["age"] })), {
  mostElements: 3,
  maxBytes: 1000,
});

describe("a list as a body", () => {
  it("is read element by element", async () => {
    expect(await people.check([{ name: " Ada ", age: "3" }, { age: 4 }])).toEqual({
      ok: true,
      value: [
        { name: "Ada", age: 3 },
        { name: "", age: 4 },
      ],
    });
    expect(await people.check([])).toEqual({ ok: true, value: [] });
  });

  it("has the errors of each element in its place", async () => {
    const missing = { age: ["This field is required."] };
    expect(await people.check([{}, { age: 1 }, { name: null }])).toEqual({
      ok: false,
      errors: [missing, {}, { ...missing, name: ["This field may not be null."] }],
    });
  });

  it.each([
    [7, "int"],
    [1.5, "float"],
    ["x", "str"],
    [true, "bool"],
    [null, "NoneType"],
    [[], "list"],
  ])("says that %j is no object", async (element, kind) => {
    expect(await people.check([{ age: 1 }, element])).toEqual({
      ok: false,
      errors: [{}, { non_field_errors: [`Invalid data. Expected a dictionary, but got ${kind}.`] }],
    });
  });
});
