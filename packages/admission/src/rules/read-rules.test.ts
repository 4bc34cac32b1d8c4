import { describe, expect, it } from "vitest";
import { readers, zoneOf } from "../testing/decisions.ts";
import { judgeRules, type RuleFacts } from "./judge-rules.ts";
import { readRules } from "./read-rules.ts";

const facts: RuleFacts = {
  at: 0,
  zone: zoneOf("UTC"),
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
    expect(rules && judgeRules(rules, facts, readers.wording("en"))).toEqual({ outcome: "broken" });
  });
});
