import { arrayOf, id, instant, integer, mapOf, object, text } from "@tessera/schema/build";
import { describe, expect, it } from "vitest";
import { compileCompletion, compileDocument } from "./document.ts";

const schema = object({
  name: text(),
  at: instant({ nullable: true }),
  note: text({ nullable: true }),
  meta: mapOf(text()),
  rows: arrayOf(object({ id: id(), at: instant(), hidden: text() })),
  tags: arrayOf(text()),
});

const value = {
  tags: ["a"],
  unknown: 1,
  note: null,
  rows: [{ hidden: "x", at: 1_000_001, id: 3, unknown: 2 }],
  meta: { b: "1", a: "2" },
  at: 0,
  name: "n",
};

describe("compileDocument", () => {
  it("keeps known fields in the schema's order and writes instants", () => {
    expect(JSON.stringify(compileDocument(schema)(value))).toBe(
      '{"name":"n","at":"1970-01-01T00:00:00Z","note":null,"meta":{"b":"1","a":"2"},' +
        '"rows":[{"id":3,"at":"1970-01-01T00:00:01.000001Z","hidden":"x"}],"tags":["a"]}',
    );
  });

  it("keeps the elements of arrays in the order of their position and id, where it is told to", () => {
    const choices = object({ options: arrayOf(object({ id: id(), position: integer() })), tags: arrayOf(text()) });
    const sorted = compileDocument(choices, { sorted: ["options", "tags"] });
    const options = [3, 1, 2].map((each) => ({ id: each, position: each === 3 ? 0 : 5 }));
    expect(sorted({ options, tags: ["b", "a"] })).toEqual({
      options: [options[0], options[1], options[2]],
      tags: ["b", "a"],
    });
    expect(sorted({ options: options.toReversed(), tags: [] })).toEqual({ options, tags: [] });
  });

  it("leaves out what it is told to", () => {
    const document = compileDocument(schema, { omit: ["meta", "rows.*.hidden"], nullIsMissing: true })(value);
    expect(document).toEqual({
      name: "n",
      at: "1970-01-01T00:00:00Z",
      rows: [{ id: 3, at: "1970-01-01T00:00:01.000001Z" }],
      tags: ["a"],
    });
  });

  it("does not fill in fields that are missing", () => {
    expect(compileDocument(schema)({ name: "n" })).toEqual({ name: "n" });
  });
});

describe("compileCompletion", () => {
  it("fills in the nulls that a document leaves out, also within lists, and keeps the rest", () => {
    const whole = { ...value, rows: [{ id: 3, at: null, hidden: null }] };
    const document = compileDocument(schema, { nullIsMissing: true })(whole);
    expect(document).not.toHaveProperty("note");
    expect(compileCompletion(schema)({ ...(document as object), unread: ["x"] })).toEqual({
      ...{ name: "n", at: "1970-01-01T00:00:00Z", note: null, meta: { b: "1", a: "2" }, tags: ["a"], unread: ["x"] },
      rows: [{ id: 3, at: null, hidden: null }],
    });
    expect(compileCompletion(schema)({})).toEqual({
      ...{ name: null, at: null, note: null, meta: null, rows: null, tags: null },
    });
  });
});
