import { format, inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { Secret } from "./redacted.ts";

const hidden = "Ada Lovelace, p4ssw0rd";

describe("Secret", () => {
  const value = new Secret(hidden);
  const mark = "[secret]";

  it("gives its value to the one who asks", () => {
    expect(value.reveal()).toBe(hidden);
  });

  it.each([
    ["a template string", `${value as unknown as string}`, mark],
    ["String", String(value), mark],
    ["join", [value, value].join(), `${mark},${mark}`],
    ["JSON", JSON.stringify(value), `"${mark}"`],
    ["nested JSON", JSON.stringify({ a: [{ b: value }] }), `{"a":[{"b":"${mark}"}]}`],
    ["inspect", inspect(value), mark],
    ["inspect of a nest", inspect({ a: [{ b: value }] }), `{ a: [ { b: ${mark} } ] }`],
    [
      "inspect below its depth",
      inspect({ a: { b: { c: { d: { e: value } } } } }, { depth: 9, breakLength: 200, compact: 9 }),
      `{ a: { b: { c: { d: { e: ${mark} } } } } }`,
    ],
    ["a map's key and value", inspect(new Map([[value, value]])), `Map(1) { ${mark} => ${mark} }`],
    ["console's %s %o %j", format("%s %j", value, value), `${mark} "${mark}"`],
    ["an error's message", new Error(`no ${value as unknown as string}`).message, `no ${mark}`],
  ])("prints as its mark in %s", (_way, printed, expected) => {
    expect(printed).toBe(expected);
  });

  it.each([
    ["inspect without custom forms", () => inspect({ value }, { customInspect: false, showHidden: true, depth: 10 })],
    ["%o", () => format("%o %O", value, { value })],
    ["a copy of its properties", () => inspect(Object.assign({}, value))],
    ["its own properties", () => inspect(Reflect.ownKeys(value).map((key) => Reflect.get(value, key)))],
    ["a structured clone", () => inspect(structuredClone(value))],
    ["an error's cause", () => inspect(new Error("failed", { cause: value }))],
  ])("is not found by %s", (_way, print) => {
    expect(print()).not.toContain("Ada");
    expect(print()).not.toContain("p4ss");
  });
});

it("keeps any type of value", () => {
  const birth = { day: 10, month: 12 };
  expect(new Secret(birth).reveal()).toBe(birth);
  expect(new Secret(undefined).reveal()).toBeUndefined();
  expect(JSON.stringify({ birth: new Secret(birth) })).toBe('{"birth":"[secret]"}');
});
