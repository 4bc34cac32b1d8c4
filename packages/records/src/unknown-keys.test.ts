import { any, arrayOf, id, mapOf, object, orPlain, text } from "@tessera/schema/build";
import { describe, expect, it } from "vitest";
import { compileUnknownKeys, UnknownKeys } from "./unknown-keys.ts";

const schema = object({
  id: id(),
  meta: mapOf(text()),
  info: any(),
  tags: arrayOf(text()),
  rows: arrayOf(object({ id: id(), cells: arrayOf(object({ id: id() })) })),
  link: orPlain(object({ id: id() }), ["string", "null"]),
});

const countUnknown = compileUnknownKeys("thing", schema);

/** Counts by key. */
function unknownOf(...values: readonly unknown[]): Record<string, number> {
  const counts = new UnknownKeys();
  for (const value of values) countUnknown(value, counts);
  return Object.fromEntries((counts.toIgnored().ignored?.keys ?? []).map(({ key, count }) => [key, count]));
}

describe("unknown keys", () => {
  it("[R2.16] are named by their path, and counted wherever they occur", () => {
    const rows = [{ id: 1, ID: 1, cells: [{ id: 1, x: 0 }, { x: 0 }] }, { ID: 2 }];
    expect(unknownOf({ id: 1, rows, name: "n" }, { rows, nom: "n" })).toEqual({
      "rows.ID": 4,
      "rows.cells.x": 4,
      name: 1,
      nom: 1,
    });
  });

  it("[R2.16] are neither names in maps nor anything where everything is allowed", () => {
    expect(unknownOf({ meta: { mine: "x" }, info: { any: { thing: 1 } }, tags: [{ x: 1 }], link: "text" })).toEqual({});
    expect(unknownOf({ link: { id: 1, idd: 2 } })).toEqual({ "link.idd": 1 });
  });

  it.each([[null], [[]], ["text"], [{ rows: {} }], [{ rows: "x" }], [{ rows: [null, [], "x"] }]])(
    "are looked for in whatever was sent: %j",
    (value) => {
      expect(unknownOf(value)).toEqual({});
    },
  );

  it("[R7.11, R6.9] are the first hundred, with names of at most a hundred characters", () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key${at}`, at]));
    const found = unknownOf(many, many);
    expect(Object.keys(found)).toEqual(Array.from({ length: 100 }, (_, at) => `key${at}`));
    expect(found["key99"]).toBe(2);
    expect(Object.keys(unknownOf({ rows: [{ ["x".repeat(101)]: 1, [`${"y".repeat(99)}🎟`]: 1 }] }))).toEqual([
      `rows.${"x".repeat(100)}`,
      `rows.${"y".repeat(99)}\ufffd`,
    ]);
  });

  it("may have the names of the prototype", () => {
    expect(unknownOf(JSON.parse('{"__proto__": {"id": 1}, "constructor": 1, "toString": 2}'))).toEqual(
      Object.fromEntries([
        ["__proto__", 1],
        ["constructor", 1],
        ["toString", 1],
      ]),
    );
  });
});
