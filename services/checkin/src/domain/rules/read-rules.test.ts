import { describe, expect, it } from "vitest";
import { judgeRules, type RuleFacts } from "./judge-rules.ts";
import { readRules } from "./read-rules.ts";

const facts: RuleFacts = {
  at: 0,
  timezone: "UTC",
  item: 1,
  variation: null,
  gate: null,
  scans: [],
  dates: { from: null, to: null, admission: null },
};

describe("readRules", () => {
  it.each(["", " \n", "{}", " { }\n", "[]", "true", "false", "null", '"anyone"', "0", "7", '[{"or": []}]'])(
    "[C4.1] reads %j as no rules",
    (json) => {
      expect(readRules(json)).toBeNull();
    },
  );

  it.each([
    "{",
    '{"and": [}',
    '{"or": [], "and": []}',
    '{"!": [false]}',
    '{"var": "now"}',
    '{"or": [{"if": [1]}, true]}',
  ])("admits nobody by what could not have been stored: %s", (json) => {
    const rules = readRules(json);
    expect(rules && judgeRules(rules, facts)).toEqual({ outcome: "broken" });
  });

  it("reads a text once, while it is in use", () => {
    const json = '{"==": [{"var": "product"}, 1]}';
    const first = readRules(json);
    expect(readRules(`${json} `)).not.toBe(first);
    expect(readRules(json)).toBe(first);
    expect(readRules("false")).toBeNull();
    for (let other = 0; other < 1000; other += 1) readRules(`{"==": [{"var": "product"}, ${other}]}`);
    const again = readRules(json);
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });
});
