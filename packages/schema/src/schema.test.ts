import { describe, expect, it } from "vitest";
import {
  arrayOf,
  boolean,
  choice,
  decimal,
  id,
  instant,
  integer,
  localized,
  mapOf,
  object,
  orPlain,
  slug,
  text,
} from "./build.ts";
import { compileSchema, toJsonSchema } from "./schema.ts";

const schema = object(
  {
    name: text({ blank: false, maxLength: 10 }),
    count: integer({ minimum: 0, default: 1 }),
    active: boolean({ default: true }),
    price: decimal({ nullable: true }),
    at: instant({ nullable: true }),
    item: id({ nullable: true }),
    mode: choice(["none", "set"], { default: "none" }),
    title: localized(),
    rows: arrayOf(object({ id: id() }, { required: ["id"] }), { default: [] }),
    ticket: text({ trim: false }),
    codes: arrayOf(text(), { maxItems: 3 }),
    texts: mapOf(text(), { maxProperties: 2, propertyNames: text({ trim: false, maxLength: 3 }) }),
    either: orPlain(localized(), ["string"], { pattern: "^[^\\u0000\\ud800-\\udfff]*$" }),
  },
  { required: ["name"] },
);

describe("compileSchema", () => {
  const check = compileSchema(schema);

  it("reads values as the conventions say and fills in defaults", () => {
    const body = {
      name: "  x ",
      count: "3.0",
      active: "No",
      price: "1e1",
      at: "2024-01-01 10:00+01:00",
      item: "7",
      rows: [{ id: "9" }],
      extra: 1,
    };
    expect(check(body)).toEqual({
      ok: true,
      value: {
        name: "x",
        count: 3,
        active: false,
        price: "10.00",
        at: 1704099600000000,
        item: 7,
        mode: "none",
        rows: [{ id: 9 }],
        extra: 1,
      },
    });
  });

  it("names every wrong field", () => {
    const result = check({
      count: 3.5,
      active: null,
      price: "1,5",
      at: 5,
      item: true,
      mode: "other",
      title: { en: 5, de: ["x"] },
      rows: [{ id: 0 }, {}],
    });
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(Object.keys(result.errors).sort()).toEqual([
      "active",
      "at",
      "count",
      "item",
      "mode",
      "name",
      "price",
      "rows.0.id",
      "rows.1.id",
      "title",
    ]);
  });

  it.each([
    ["name", "a\u0000b"],
    ["name", "\ud800"],
    ["name", "   "],
    ["name", "12345678901"],
    ["count", -1],
    ["count", "1e3"],
    ["at", "2024-02-30T00:00:00Z"],
    ["at", "2024-01-01T25:00"],
    ["item", 2 ** 50 + 1],
    ["price", "NaN"],
    ["price", "1.234"],
    ["price", "123456789012"],
    ["name", Number.POSITIVE_INFINITY],
    ["name", 1e21],
    ["name", 5e-7],
    ["name", 2 ** 53],
    ["ticket", 0.1],
    ["ticket", 1e21],
    ["ticket", 2 ** 60],
    ["codes", [{}]],
    ["codes", ["a", "a", "a", "a"]],
    ["texts", { "\u0000": "x" }],
    ["texts", { toolong: "x" }],
    ["texts", { a: "x", b: "x", c: "x" }],
    ["either", "a\u0000"],
    ["either", "\ud800"],
    ["either", { en: "\u0000" }],
    ["either", 5],
  ])("refuses %s %j", (field, value) => {
    const result = check({ name: "x", [field]: value });
    expect(result.ok ? [] : Object.keys(result.errors)).toEqual([field]);
  });

  it("turns numbers into texts where that says what was sent", () => {
    const checked = check({ name: 1.5, ticket: 123, codes: [9007199254740991, " x "], texts: { a: 7 } });
    expect(checked).toMatchObject({
      ok: true,
      value: { name: "1.5", ticket: "123", codes: ["9007199254740991", "x"], texts: { a: "7" } },
    });
  });

  it("tells elements and values by their number, and never the names that somebody chose", () => {
    const result = check({ name: "x", codes: ["a", {}, true], texts: { en: "fine", Zwiebelhuber: [] } });
    expect(result).toEqual({
      ok: false,
      errors: {
        codes: ["Element 2: Not a valid string.", "Element 3: Not a valid string."],
        texts: ["Key 2: Ensure this field has no more than 3 characters.", "Value 2: Not a valid string."],
      },
    });
  });

  it("says enough of a list or map that is wrong from end to end, and looks no further", () => {
    const untouchable = {
      get id(): never {
        throw new Error("this element was looked at");
      },
    };
    const lists = compileSchema(
      object({ rows: arrayOf(object({ id: id() }, { required: ["id"] })), ids: arrayOf(id()), title: localized() }),
    );
    const result = lists({
      rows: [...Array.from({ length: 60 }, () => ({})), untouchable],
      ids: Array(60_000).fill("x"),
      title: Object.fromEntries(Array.from({ length: 190 }, (_, at) => [at, null])),
    });
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(Object.keys(result.errors)).toEqual([
      ...Array.from({ length: 50 }, (_, at) => `rows.${at}.id`),
      "rows",
      "ids",
      "non_field_errors",
    ]);
    expect(result.errors["rows"]).toEqual([expect.stringContaining("There may be more")]);
    expect(result.errors["ids"]).toHaveLength(49);
    expect(result.errors["non_field_errors"]).toEqual(["and 53 more"]);
  });

  it("refuses what is no object", () => {
    for (const value of [null, [], 5, "x"]) expect(check(value).ok).toBe(false);
  });

  it("reads a leap second's neighbour and microseconds exactly", () => {
    const at = compileSchema(instant())("2254-12-31T23:59:59.999999Z");
    expect(at).toEqual({ ok: true, value: 8993721599999999 });
  });
});

describe("toJsonSchema", () => {
  it("keeps what a reader of the document needs, without our keyword", () => {
    expect(toJsonSchema(object({ read: boolean() }))).toEqual({
      type: "object",
      properties: { read: { type: "boolean" } },
    });
  });

  it("[S9.6] says which ids, slugs and texts are refused", () => {
    const schema = object({
      id: id({ nullable: true }),
      slug: slug(),
      code: text({ blank: false, minLength: 5 }),
      name: text({ blank: false }),
      tag: text(),
    });
    expect(toJsonSchema(schema)["properties"]).toEqual({
      id: { type: ["integer", "null"], minimum: 1, maximum: 2 ** 50 },
      slug: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$" },
      code: { type: "string", minLength: 5 },
      name: { type: "string", minLength: 1 },
      tag: { type: "string" },
    });
  });
});
