import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fieldTexts } from "./field-texts.ts";

describe("the texts of the fields of an object", () => {
  it.each([
    ["{}", {}],
    [" { } ", {}],
    ['{"a":1.0}', { a: "1.0" }],
    ['{ "a" : [ 1e2 , 0.10 ] , "b":"}" }', { a: "[ 1e2 , 0.10 ]", b: '"}"' }],
    ['{"a":{"b":"]\\""},"c":[[],[{}]],"d":null}', { a: '{"b":"]\\""}', c: "[[],[{}]]", d: "null" }],
    ['{"a":1,"a":2}', { a: "2" }],
    ['{"\\u0061":12345678901234567890}', { a: "12345678901234567890" }],
    ['{"a:,":"x:,{"}', { "a:,": '"x:,{"' }],
    ['{"":"\\\\"}', { "": '"\\\\"' }],
  ])("of %s", (json, expected) => {
    expect(Object.fromEntries(fieldTexts(json, new Set(Object.keys(expected))))).toEqual(expected);
  });

  it("mean what the object means, whatever that is", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), fc.nat(2), (value, indent) => {
        const texts = fieldTexts(JSON.stringify(value, undefined, indent), new Set(Object.keys(value)));
        const parsed: unknown = JSON.parse(JSON.stringify(value));
        const entries = Array.from(texts, ([name, text]): [string, unknown] => [name, JSON.parse(text)]);
        expect(entries).toEqual(Object.entries(parsed as object).map((entry) => entry));
      }),
    );
  });
});
