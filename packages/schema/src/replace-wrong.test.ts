import { describe, expect, it } from "vitest";
import { arrayOf, choice, decimal, id, instant, integer, jsonText, object, text } from "./build.ts";
import { replaceWrong } from "./replace-wrong.ts";
import { compileSchema } from "./schema.ts";
import { WrongFields } from "./wrong-fields.ts";

const position = object(
  { id: id(), positionid: integer({ minimum: 1, maximum: 100 }), price: decimal({ default: "0.00" }) },
  { required: ["id", "positionid"] },
);
const schema = object(
  {
    code: text({ blank: false }),
    status: choice(["n", "p"]),
    at: instant(),
    rule: jsonText(arrayOf(id())),
    items: arrayOf(id(), { default: [] }),
    positions: arrayOf(position, { default: [] }),
  },
  { required: ["code", "status", "at", "rule"] },
);
const check = compileSchema(schema);

/** Replaces what the schema refuses. */
function replaced(data: object) {
  const first = check(structuredClone(data));
  return replaceWrong(schema, structuredClone(data), first.ok ? [] : Object.keys(first.errors));
}

const good = { code: "A", status: "n", at: "2027-01-01T00:00:00Z", rule: "[1]" };

describe("a record whose wrong fields are replaced", () => {
  it.each([
    ["nothing", {}],
    ["a required field", { ...good, status: "z", at: 5, code: "", rule: [1] }],
    ["a field with a default", { ...good, positions: [{ id: 1, positionid: 1, price: "x" }] }],
    ["a missing field", { ...good, positions: [{ price: "1.00" }, { id: 2 }] }],
    ["an element", { ...good, positions: [5, { id: 1, positionid: 1 }] }],
    ["an element without fields", { ...good, items: [1, "x"] }],
    ["a list", { ...good, positions: {} }],
  ])("is accepted where this was wrong: %s", (_name, data) => {
    expect(check(replaced(data))).toMatchObject({ ok: true });
  });

  it("keeps what is right, and repeats no number", () => {
    const data = { ...good, status: "z", positions: [{ id: "x", positionid: 1 }, { id: null }] };
    const { code, positions } = replaced(data) as { code: string; positions: { id: number; positionid: number }[] };
    expect([code, positions[0]?.positionid]).toEqual(["A", 1]);
    expect(new Set(positions.flatMap((each) => [each.id, each.positionid])).size).toBe(4);
  });

  it.each([
    ["no object", "x", ["code"]],
    ["wrong as a whole", good, ["non_field_errors"]],
    ["wrong where the schema has nothing", good, ["unheard_of"]],
  ])("is left alone if it is %s", (_name, data, paths) => {
    expect(replaceWrong(schema, data, paths)).toBeUndefined();
  });
});

describe("the errors of several checks", () => {
  it("leave out what is said of a list because of what stands for its wrong element", () => {
    const wrong = new WrongFields({ "positions.0.answers.1": ["a"] });
    expect(wrong.add({ "positions.0.answers": ["Element 2 is not known."] })).toBe(false);
    expect(wrong.add({ "positions.0.answer": ["b"], "positions.1.answers": ["c"] })).toBe(true);
  });

  it("leave out what lies inside of a wrong field, or is about it", () => {
    const wrong = new WrongFields({ status: ["a"], "positions.1": ["b"] });
    expect(wrong.add({ status: ["c"], "positions.1.item": ["d"] })).toBe(false);
    expect(wrong.add({ "positions.10": ["e"], statuses: ["f"] })).toBe(true);
    expect(wrong.toErrors()).toEqual({ status: ["a"], "positions.1": ["b"], "positions.10": ["e"], statuses: ["f"] });
  });
});
