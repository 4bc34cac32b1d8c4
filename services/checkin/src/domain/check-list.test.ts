import { describe, expect, it } from "vitest";
import { checkListFields, checkListReferences, joinErrors } from "./check-list.ts";

describe("checkListFields", () => {
  it.each(["{}", " { } ", "[]", "true", "false", "[1]", "1", '"x"', '{"and": []}', '{"==": [0, 1]}'])(
    "accepts rules: %s",
    (rules) => {
      expect(checkListFields({ name: "Gate", rules })).toEqual({});
    },
  );

  it.each(["null", "{", ""])("[C4.8] refuses what is not rules, under that field: %j", (rules) => {
    expect(checkListFields({ name: "Gate", rules })).toEqual({ rules: [expect.any(String)] });
  });

  it("[C4.8] refuses rules that contradict themselves, whatever else is wrong", () => {
    const problem = 'At rules.or[0]: there is no operator "!".';
    expect(checkListFields({ name: "", rules: '{"or": [{"!": [1]}]}' })).toEqual({
      name: [expect.any(String)],
      non_field_errors: [problem],
    });
  });

  it("[C4.9] does not look at rules that were not sent", () => {
    expect(checkListFields({ name: "Gate" })).toEqual({});
  });

  it("wants a name, not too long", () => {
    expect(checkListFields({ name: "  ", rules: "{}" })).toHaveProperty("name");
    expect(checkListFields({ name: "x".repeat(191), rules: "{}" })).toHaveProperty("name");
    expect(checkListFields({ name: "🎫".repeat(190), rules: "{}" })).toEqual({});
  });
});

describe("checkListReferences", () => {
  const known = { series: true, subevents: new Set([5]), lists: new Set([2]), items: new Set([1, 2]) };

  it("accepts what the event has", () => {
    expect(checkListReferences({ limitProducts: [2, 1], subevent: 5, takesFrom: [] }, known)).toEqual({});
  });

  it("names every item that the event does not have", () => {
    const errors = checkListReferences({ limitProducts: [1, 3, 4], subevent: null, takesFrom: [] }, known);
    expect(Object.keys(errors)).toEqual(["limit_products"]);
    expect(errors["limit_products"]).toHaveLength(2);
  });

  it("names some of a great many items, and counts the others", () => {
    const many = Array.from({ length: 1000 }, (_, index) => index + 1);
    const messages = checkListReferences({ limitProducts: many, subevent: null, takesFrom: [] }, known)[
      "limit_products"
    ];
    expect(messages).toHaveLength(51);
    expect(messages?.at(-1)).toBe("and 948 more");
  });

  it("distinguishes an unknown date from a date of an event that is not a series", () => {
    const list = { limitProducts: [], subevent: 5, takesFrom: [] };
    expect(Object.keys(checkListReferences(list, { ...known, subevents: new Set<number>() }))).toEqual(["subevent"]);
    expect(Object.keys(checkListReferences(list, { ...known, series: false }))).toEqual(["non_field_errors"]);
  });
});

describe("joinErrors", () => {
  it("keeps what both checks found", () => {
    expect(joinErrors({ name: ["a"] }, { rules: ["b"] })).toEqual({ name: ["a"], rules: ["b"] });
    expect(joinErrors({ non_field_errors: ["a"], name: ["c"] }, { non_field_errors: ["b"] })).toEqual({
      name: ["c"],
      non_field_errors: ["a", "b"],
    });
    expect(joinErrors({}, { non_field_errors: ["b"] })).toEqual({ non_field_errors: ["b"] });
    expect(joinErrors({}, {})).toEqual({});
  });
});
