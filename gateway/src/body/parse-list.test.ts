import { Fault } from "@tessera/kit/fault";
import { array, assert, asyncProperty, constantFrom, json, string, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { deepestNesting } from "./nesting.ts";
import { parseList } from "./parse-list.ts";

const limits = { mostElements: 10_000, longestElement: 200_000, mostValues: 1000, mostInAll: 100_000 };
const parsed = (text: string) => parseList(text, limits);

async function refusalOf(text: string, its = limits): Promise<string> {
  const refusal = await parseList(text, its).catch((error: unknown) => error);
  if (!(refusal instanceof Fault)) throw new Error("it was parsed");
  return refusal.fields?.["non_field_errors"]?.[0] ?? refusal.code;
}

/** The result of JSON.parse; undefined: not a list, or not JSON. */
function parsedAtOnce(text: string): unknown[] | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return Array.isArray(value) ? (value as unknown[]) : undefined;
  } catch {
    return undefined;
  }
}

describe("parseList", () => {
  it("reads what a parser reads", async () => {
    await assert(
      asyncProperty(array(json({ maxDepth: 3 })), constantFrom(",", " ,\n", "\t,\r\n "), async (elements, between) => {
        const text = ` [${elements.join(between)} ]\n`;
        expect(await parsed(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("refuses what a parser refuses, wherever it is broken", async () => {
    const parts = constantFrom("[", "]", "{", "}", ",", '"', "\\", ":", "1", " ", '"a"', "null", "[1]", '{"a":1}');
    await assert(
      asyncProperty(tuple(constantFrom("", "["), array(parts), string({ maxLength: 2 })), async ([start, all, end]) => {
        const text = start + all.join("") + end;
        const expected = parsedAtOnce(text);
        if (expected === undefined) await expect(parsed(text)).rejects.toThrow(Fault);
        else expect(await parsed(text)).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it("reads long lists in pieces, in order", async () => {
    const list = Array.from({ length: 10_000 }, (_, index) => ({ index, text: `],[{"\\" ${index}` }));
    expect(await parsed(JSON.stringify(list))).toEqual(list);
    expect(await parsed(JSON.stringify(list, null, 2))).toEqual(list);
  });

  it("finds what is broken in a later piece", async () => {
    const piece = JSON.stringify(Array.from({ length: 9000 }, () => "some text")).slice(1, -1);
    for (const end of ["", ",]", ",,1]", ",{]", "}", "] x", ",x]", '"']) {
      expect(await refusalOf(`[${piece}${end}`)).toBe("malformed_body");
    }
  });

  it.each([
    ["{", 'Expected a list of items but got type "dict".'],
    ['{"a":1}', 'Expected a list of items but got type "dict".'],
    ['"a"', 'Expected a list of items but got type "str".'],
    ["1", 'Expected a list of items but got type "int".'],
    ["1.5", 'Expected a list of items but got type "float".'],
    ["true", 'Expected a list of items but got type "bool".'],
    ["null", "No data provided."],
    [" ", "malformed_body"],
    ["x", "malformed_body"],
    ["\u00a0[]", "malformed_body"],
    ["[\u00a0]", "malformed_body"],
    ["[]]", "malformed_body"],
  ])("says of %s what is wrong with it", async (text, problem) => {
    expect(await refusalOf(text)).toBe(problem);
  });

  it("[S4.24] takes as many values as allowed, in an element and in all", async () => {
    const few = { ...limits, mostValues: 4, mostInAll: 6 };
    expect(await parseList("[[1,2,3],[1,2,3],1]", few)).toHaveLength(3);
    for (const text of ["[[1,2,3,4]]", '[{"a":{"b":{"c":{}}}}]', "[[1,2],[1,2],[1,2,3]]", "[[],[],[],[],[],[],[]]"]) {
      expect(await refusalOf(text, few), text).toBe("malformed_body");
    }
  });

  it("takes as many elements as allowed, as long and as deep as allowed", async () => {
    const few = { mostElements: 3, longestElement: 10, mostValues: 1000, mostInAll: 100_000 };
    expect(await parseList("[1,2,3]", few)).toEqual([1, 2, 3]);
    expect(await refusalOf("[1,2,3,4]", few)).toBe("At most 3 elements are allowed at once.");
    expect(await parseList('["12345678"]', few)).toEqual(["12345678"]);
    for (const text of ['["123456789"]', "[[1,2,3,4,5]]", '[1,"123456789",2]', "[1,[1,2,3,4,5]]"]) {
      expect(await refusalOf(text, few)).toBe("body_too_large");
    }
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(await parsed(nested(deepestNesting))).toHaveLength(1);
    expect(await refusalOf(nested(deepestNesting + 1))).toBe("malformed_body");
  });
});
