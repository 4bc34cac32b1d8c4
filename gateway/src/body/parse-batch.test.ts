import { Fault } from "@tessera/kit/fault";
import { integer, object, text } from "@tessera/schema/build";
import { array, assert, asyncProperty, constantFrom, json, oneof, string, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { batchBodyOf } from "../http/batch-body.ts";
import { bodyOf } from "../http/route.ts";
import { parseBatch } from "./parse-batch.ts";

const body = batchBodyOf(
  { title: "Head", ...object({ name: text() }) },
  {
    ...{ field: "all", element: bodyOf(object({ a: integer() }, { required: ["a"] })) },
    ...{ mostElements: 1000, maxBytes: 100_000, description: "" },
  },
);
const parsed = (sent: string) => parseBatch(sent, body);

describe("parseBatch", () => {
  it("reads what a parser reads", async () => {
    const escaped = "\\u0061ll";
    const fields = array(tuple(oneof(constantFrom("all", "name", "a\\l", escaped), string()), json({ maxDepth: 3 })));
    const blank = constantFrom("", " ", "\n\t");
    await assert(
      asyncProperty(fields, array(json({ maxDepth: 2 })), blank, async (others, list, between) => {
        const named = others.map(([name, value]) => {
          const written = name === escaped ? `"${name}"` : JSON.stringify(name);
          return `${between}${written}${between}:${between}${value}`;
        });
        const sent = `{${[...named, `"all":${between}[${list.join()}]${between}`].join()}}`;
        expect(await parsed(sent)).toEqual(JSON.parse(sent));
      }),
    );
  });

  it("refuses what a parser refuses, wherever it is broken", async () => {
    const parts = constantFrom(
      ...["[", "]", "{", "}", ",", '"', "\\", ":", "1", " ", '"all"', '"all":', '"all":[1]', '"a":', "null"],
    );
    await assert(
      asyncProperty(tuple(constantFrom("", "{", '{"all":['), array(parts), constantFrom("", "}")), async (all) => {
        const sent = all.flat().join("");
        const value = parsedAtOnce(sent);
        const isRead = typeof value !== "object" || value === null || !("all" in value) || Array.isArray(value.all);
        if (value === undefined || !isRead) await expect(parsed(sent)).rejects.toThrow(Fault);
        else expect(await parsed(sent)).toEqual(value);
      }),
      { numRuns: 3000 },
    );
  });

  it("checks every element, and reports those that are wrong in their places", async () => {
    expect(await body.check({ name: "x", all: [{ a: 1, b: 2 }, {}, 5, { a: "2" }] })).toEqual({
      ok: true,
      value: {
        name: "x",
        all: [
          { ok: true, value: { a: 1 } },
          { ok: false, errors: { a: [expect.any(String)] } },
          { ok: false, errors: { non_field_errors: [expect.any(String)] } },
          { ok: true, value: { a: 2 } },
        ],
      },
    });
    expect(await body.check({ name: [] })).toMatchObject({ ok: false, errors: { name: [expect.any(String)] } });
  });
});

/** The result of JSON.parse; undefined: it is not JSON. */
function parsedAtOnce(sent: string): unknown {
  try {
    return JSON.parse(sent) as unknown;
  } catch {
    return undefined;
  }
}
