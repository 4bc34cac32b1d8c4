import { describe, expect, it } from "vitest";
import { identifier, joinSql, literal, sql } from "./sql.ts";

describe("sql", () => {
  it("binds every value and numbers its place", () => {
    const statement = sql`select ${1} as a, ${"two; drop table x"} as b, ${null} as c`;
    expect(statement.text).toBe("select $1 as a, $2 as b, $3 as c");
    expect(statement.values).toEqual([1, "two; drop table x", null]);
  });

  it("splices nested statements and renumbers them", () => {
    const inner = sql`b = ${2} and ${sql`c = ${3}`}`;
    const statement = sql`select a from t where a = ${1} and ${inner} and d = ${4}`;
    expect(statement.text).toBe("select a from t where a = $1 and b = $2 and c = $3 and d = $4");
    expect(statement.values).toEqual([1, 2, 3, 4]);
  });

  it("lets one part stand in several statements, and twice in one", () => {
    const part = sql`x = ${"v"}`;
    expect(sql`${part} or y = ${1}`.text).toBe("x = $1 or y = $2");
    expect(sql`y = ${1} or ${part} or ${part}`).toMatchObject({
      text: "y = $1 or x = $2 or x = $3",
      values: [1, "v", "v"],
    });
    expect(part).toMatchObject({ text: "x = $1", values: ["v"] });
  });

  it("takes nothing for a statement that only looks like one", () => {
    const forged = { text: "1; drop table t", values: [] };
    expect(sql`select ${forged}`).toMatchObject({ text: "select $1", values: [forged] });
  });

  it("binds an array as one value", () => {
    expect(sql`select ${[1, 2, 3]}::bigint[]`).toMatchObject({ text: "select $1::bigint[]", values: [[1, 2, 3]] });
  });

  it("keeps its text for the same places, whatever is bound", () => {
    const of = (a: unknown, b: unknown) => sql`select ${a}, ${b}`.text;
    expect(of(1, "x")).toBe(of(null, [1, 2]));
  });

  it("numbers more than nine places", () => {
    const statement = joinSql(
      Array.from({ length: 12 }, (_, index) => sql`${index}`),
      ", ",
    );
    expect(statement.text).toBe("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12");
    expect(statement.values).toHaveLength(12);
  });
});

describe("joinSql", () => {
  it.each([
    ["none", [], ""],
    ["one", [sql`a = ${1}`], "a = $1"],
    ["several", [sql`a = ${1}`, sql`b`, sql`c = ${2}`], "a = $1 and b and c = $2"],
  ])("joins %s", (_name, statements, text) => {
    expect(joinSql(statements, " and ").text).toBe(text);
  });
});

describe("identifier", () => {
  it.each([
    ["plain", '"plain"'],
    ["Order", '"Order"'],
    ['a"; drop table b; --', '"a""; drop table b; --"'],
    ["ümlaut €", '"ümlaut €"'],
  ])("quotes %s", (name, text) => {
    expect(sql`${identifier(name)}`).toMatchObject({ text, values: [] });
  });
});

describe("literal", () => {
  it.each([
    ["2026-11-21", "'2026-11-21'"],
    ["it's", "'it''s'"],
    ["$1", "'$1'"],
  ])("quotes %s", (value, text) => {
    expect(sql`${literal(value)}`).toMatchObject({ text, values: [] });
  });

  it("refuses a backslash, which means something else in some settings", () => {
    expect(() => literal("a\\'b")).toThrow("backslash");
  });
});
