import { describe, expect, it } from "vitest";
import { filledFields, replaceFields, toFields } from "./document-fields.ts";

const order = {
  code: "A",
  email: "ada@example.org",
  phone: null,
  positions: [
    { id: 1, name: "Ada", parts: { given: "Ada" }, answers: [] },
    { id: 2, name: "", parts: {}, answers: [{ answer: "x" }] },
  ],
};

describe("replaceFields", () => {
  it("replaces what is there, and leaves what is empty", () => {
    const values = { email: null, phone: "x", "positions.*.name": null, "positions.*.answers": [] };
    expect(replaceFields(order, toFields(values))).toEqual({
      ...order,
      email: null,
      positions: [
        { ...order.positions[0], name: null },
        { ...order.positions[1], answers: [] },
      ],
    });
    expect(replaceFields(order, toFields({ phone: "x", "positions.*.none": null, "code.*.none": 1 }))).toBe(order);
  });

  it("tells each path as often as it was filled, and shares what stays", () => {
    const told: string[] = [];
    const values = { email: null, "positions.*.parts": {}, "positions.*.id": 0, "positions.*.parts.given": null };
    const changed = replaceFields(order, toFields(values), (path) => told.push(path));
    expect(told.toSorted()).toEqual(["email", "positions.*.id", "positions.*.id", "positions.*.parts"]);
    expect(changed.positions[1]?.answers).toBe(order.positions[1]?.answers);
    expect(order.positions[0]?.parts).toEqual({ given: "Ada" });
  });
});

describe("filledFields", () => {
  it("finds what is there, with the index of each element", () => {
    const paths = ["email", "phone", "positions.*.name", "positions.*.parts", "positions.*.answers"];
    expect(filledFields(order, paths)).toEqual([
      "email",
      "positions.0.name",
      "positions.0.parts",
      "positions.1.answers",
    ]);
    expect(filledFields(null, paths)).toEqual([]);
  });
});
