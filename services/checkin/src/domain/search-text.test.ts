import { describe, expect, it } from "vitest";
import { isSelective, planName, planSearch, toSearchText } from "./search-text.ts";

describe("toSearchText", () => {
  it("folds fields and sets each on a line of its own", () => {
    expect(toSearchText(["Jürgen GROẞ", undefined, "", "J@EXAMPLE.org"])).toBe("\njürgen gross\nj@example.org");
  });

  it("says the same thing once", () => {
    expect(toSearchText(["Ann", "ann@x", "Ann", undefined, "ann@x"])).toBe("\nann\nann@x");
  });

  it("adds the pairs of letters that nothing separates, once each", () => {
    expect(toSearchText(["王小明", "Lee 王小明"])).toBe("\n王小明\nlee 王小明\n王小\n小明\n明");
    expect(toSearchText(["王", "김철수 Kim", "ab"])).toBe("\n王\n김철수 kim\nab\n김철\n철수\n수");
  });

  it("lets no field pretend to be two", () => {
    expect(toSearchText(["Ann\nBob"])).toBe("\nann bob");
  });
});

describe("planSearch", () => {
  it("takes wildcards for letters", () => {
    const patterns = ["%100\\%\\_\\\\%"];
    expect(planSearch("100%_\\")).toEqual({ kind: "anywhere", codePrefix: "100%_\\", patterns, indexed: patterns });
  });

  it("asks the index for the mailbox of an address, if that has a word for the index", () => {
    const plan = { patterns: ["%a\\_anna@example.org%"], indexed: ["%a\\_anna@%"] };
    expect(planSearch("A_Anna@example.org")).toMatchObject(plan);
    for (const search of ["a.b@example.org", "@example.org", "anna@", "anna"])
      expect(planSearch(search)).toMatchObject({ indexed: [`%${search}%`] });
  });

  it("looks for one or two letters at beginnings only", () => {
    const patterns = ["%\njü%", "% jü%"];
    expect(planSearch("Jü")).toEqual({ kind: "beginnings", codePrefix: "Jü", patterns, indexed: patterns });
  });

  it.each([undefined, "", "\u200b", "\0"])("finds everything by %j", (search) => {
    expect(planSearch(search).kind).toBe("everything");
  });

  it("counts characters, not code units", () => {
    expect(planSearch("🎫🎫").kind).toBe("beginnings");
    expect(planSearch("🎫🎫🎫").kind).toBe("anywhere");
  });

  it.each([
    ["ab", false],
    ["abc", true],
    ["a\u200b\u200bb", false],
    [undefined, false],
  ])("%j is telling: %j", (search, telling) => {
    expect(isSelective(search)).toBe(telling);
  });
});

describe("planName", () => {
  it("looks for the whole first line, and takes wildcards for letters", () => {
    expect(planName("Ann_ 100%\\")).toEqual({ beginning: "\nann\\_ 100\\%\\\\%", line: "\nann\\_ 100\\%\\\\\n%" });
  });
});
