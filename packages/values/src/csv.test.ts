import { expect, it } from "vitest";
import { type Cell, writeCsvLine } from "./csv.ts";

it.each<[string, Cell[], string]>([
  ["numbers, texts and nothing", [1, "a b", null, ""], "1,a b,,\r\n"],
  ["negative numbers, which are no formulas", [-1], "-1\r\n"],
  ["what separates cells and lines, in quotes", ['a,"b"', "c\nd", "e\r"], '"a,""b""","c\nd","e\r"\r\n'],
  ["formulas as texts", ["=1+1", "+49 30", "-2", "@SUM(A1)"], "'=1+1,'+49 30,'-2,'@SUM(A1)\r\n"],
  ["formulas behind white space", ["\t=1", "\r=1", "\n=1"], '\'\t=1,"\'\r=1","\'\n=1"\r\n'],
  ["formulas in quotes", ['=HYPERLINK("http://a","b")'], '"\'=HYPERLINK(""http://a"",""b"")"\r\n'],
  ["signs inside a text", ["1+1=2"], "1+1=2\r\n"],
])("[F3.13] a line of a table has %s", (_name, cells, line) => {
  expect(writeCsvLine(cells)).toBe(line);
});
