import { describe, expect, it } from "vitest";
import { filledFields, replaceFields } from "./document-fields.ts";

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
    expect(
      replaceFields(order, { email: null, phone: "x", "positions.*.name": null, "positions.*.answers": [] }),
    ).toEqual({
      ...order,
      email: null,
      positions: [
        { ...order.positions[0], name: null },
        { ...order.positions[1], answers: [] },
      ],
    });
    expect(replaceFields(order, { phone: "x", "positions.*.none": null })).toBe(order);
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
