import { expect, it } from "vitest";
import { fieldsOf, pickFields } from "./pick-fields.ts";

const shown = { a: 1, b: { c: 2, d: { e: 3 } }, list: [{ x: 1, y: 2 }, { x: 3 }, 4], none: null };

it.each([
  [["a"], { a: 1 }],
  [["b.c", "a"], { b: { c: 2 }, a: 1 }],
  [["b.d.e"], { b: { d: { e: 3 } } }],
  [["b.c", "b"], { b: shown.b }],
  [["b", "b.c"], { b: shown.b }],
  [["list.x"], { list: [{ x: 1 }, { x: 3 }, 4] }],
  [["a.x", "none.x"], { a: 1, none: null }],
  [["z", "b.z"], { b: {} }],
  [["__proto__", "constructor.name", "b.__proto__.x"], { b: {} }],
])("picks %j", (names, expected) => {
  expect(pickFields(shown, fieldsOf(names))).toEqual(expected);
});
