import { describe, expect, it } from "vitest";
import { checkListFields, checkListReferences } from "./check-list.ts";

describe("checkListFields", () => {
  it.each(["{}", " { } ", "[]", "true", "false"])("accepts rules that rule nothing: %s", (rules) => {
    expect(checkListFields({ name: "Gate", rules })).toEqual({});
  });

  it.each(['{"and": []}', '{"==": [0, 1]}', "[1]", "null", "1", '"x"', "{", ""])(
    "refuses rules it cannot keep: %s",
    (rules) => {
      expect(checkListFields({ name: "Gate", rules })).toHaveProperty("rules");
    },
  );

  it("wants a name, not too long", () => {
    expect(checkListFields({ name: "  ", rules: "{}" })).toHaveProperty("name");
    expect(checkListFields({ name: "x".repeat(191), rules: "{}" })).toHaveProperty("name");
    expect(checkListFields({ name: "🎫".repeat(190), rules: "{}" })).toEqual({});
  });
});

describe("checkListReferences", () => {
  const known = { hasSubevents: true, subeventKnown: true, knownItems: new Set([1, 2]) };

  it("accepts what the event has", () => {
    expect(checkListReferences({ limitProducts: [2, 1], subevent: 5 }, known)).toEqual({});
  });

  it("names every item that the event does not have", () => {
    const errors = checkListReferences({ limitProducts: [1, 3, 4], subevent: null }, known);
    expect(Object.keys(errors)).toEqual(["limit_products"]);
    expect(errors["limit_products"]).toHaveLength(2);
  });

  it("names some of a great many items, and counts the others", () => {
    const many = Array.from({ length: 1000 }, (_, index) => index + 1);
    const messages = checkListReferences({ limitProducts: many, subevent: null }, known)["limit_products"];
    expect(messages).toHaveLength(51);
    expect(messages?.at(-1)).toBe("and 948 more");
  });

  it("tells an unknown date from a date of an event that is no series", () => {
    const list = { limitProducts: [], subevent: 5 };
    expect(Object.keys(checkListReferences(list, { ...known, subeventKnown: false }))).toEqual(["subevent"]);
    expect(Object.keys(checkListReferences(list, { ...known, hasSubevents: false }))).toEqual(["non_field_errors"]);
  });
});
