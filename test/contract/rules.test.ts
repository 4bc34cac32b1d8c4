import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readSources } from "../architecture/read-sources.ts";
import { findRuleGaps, readProofs, readRules } from "./find-rule-gaps.ts";

describe("the rules in docs/rules", () => {
  const sources = readSources(fileURLToPath(new URL("../../", import.meta.url)));
  const rules = sources
    .filter(({ path }) => /^docs\/rules\/[^/]+\.md$/.test(path))
    .flatMap(({ path, text }) => readRules(path, text));
  const proofs = sources
    .filter(({ path }) => path.endsWith(".test.ts") && path !== "test/contract/rules.test.ts")
    .flatMap(readProofs);

  it("have been read, and so have the tests", () => {
    expect(rules.map(({ id }) => id)).toContain("A5.3");
    expect(proofs.map(({ id }) => id)).toContain("A5.3");
    // A walk that missed whole folders would find fewer places.
    const roots = proofs.map(({ place }) => place.split("/")[0]);
    expect(roots).toEqual(expect.arrayContaining(["gateway", "services", "test"]));
  });

  it("have a test each, and no test proves a rule that is not there", () => {
    expect(findRuleGaps(rules, proofs)).toEqual([]);
  });
});

const rulesOf = (...lines: string[]) => readRules("docs/rules/a.md", lines.join("\n"));
const proofsOf = (text: string) => readProofs({ path: "gateway/src/a.test.ts", text });
const gapsOf = (rules: string[], tests: string) => findRuleGaps(rulesOf(...rules), proofsOf(tests));

describe("findRuleGaps", () => {
  const one = "- **A1.1** Keys open doors.";
  const other = "- **R1.1** Records come in lines.";

  it("finds nothing where every rule has a test, and every id its rule", () => {
    expect(gapsOf([one, other], 'it("[A1.1, R1.1] opens", () => {}); it("else", () => {});')).toEqual([]);
  });

  it.each([
    ["a rule without a test", [one, other], 'it("[A1.1] opens", f)', ["docs/rules/a.md:2 R1.1 has no test"]],
    [
      "a test without a rule",
      [one],
      'it("[A1.1] opens", f);\nit("[A1.2] shuts", f)',
      ["gateway/src/a.test.ts:2 no document has the rule A1.2"],
    ],
    [
      "an id that occurs twice",
      [one, "", one],
      'it("[A1.1] opens", f)',
      ["docs/rules/a.md:1 and docs/rules/a.md:3 are both called A1.1"],
    ],
    ["a rule that says nothing", ["- **A1.1** "], 'it("[A1.1] opens", f)', ["docs/rules/a.md:1 A1.1 says nothing"]],
    ["a rule of dots", ["- **A1.1** …"], 'it("[A1.1] opens", f)', ["docs/rules/a.md:1 A1.1 says nothing"]],
    [
      "what is no id",
      ["- **A1** Keys."],
      'it("opens", f)',
      ["docs/rules/a.md:1 “A1” is no id like A5.2", "docs/rules/a.md:1 A1 has no test"],
    ],
    [
      "an id in a list of ids that is none",
      [one],
      'it("[A1.1; A1.2] opens", f)',
      ["docs/rules/a.md:1 A1.1 has no test", "gateway/src/a.test.ts:1 no document has the rule A1.1; A1.2"],
    ],
  ])("finds %s", (_name, rules, tests, gaps) => {
    expect(gapsOf(rules, tests)).toEqual(gaps);
  });
});

describe("readRules", () => {
  it("joins what goes on in the next line, and stops at the next item", () => {
    const rules = rulesOf(
      "# **A1.1** no item",
      "- **A1.2** It goes",
      "  on.",
      "- plain",
      "* **A1.3**",
      "  It starts.",
      "",
      "  Else.",
    );
    expect(rules.map(({ id, sentence, place }) => [id, sentence, place])).toEqual([
      ["A1.2", "It goes on.", "docs/rules/a.md:2"],
      ["A1.3", "It starts.", "docs/rules/a.md:5"],
    ]);
  });
});

describe("readProofs", () => {
  const idsIn = (text: string) => proofsOf(text).map(({ id }) => id);

  it.each([
    ['it("[A1.1] a", f)', ["A1.1"]],
    ["test('[A1.1,A1.2]', f)", ["A1.1", "A1.2"]],
    ["it(`[A1.1] $" + "{name}`, f)", ["A1.1"]],
    ['it.each([["(", 1], [")", 2]])("[A1.1] %s", f)', ["A1.1"]],
    ['it.each<readonly [string, () => void]>([[a, b]])("[A1.1] %s", f)', ["A1.1"]],
    ['describe.each(kinds.map((kind) => [kind]))("[A1.1] %s", f)', ["A1.1"]],
    [`it.each\`a | b\n\${1} | \${2}\`("[A1.1] $a", f)`, ["A1.1"]],
    ['it.concurrent(\n  "[A1.1] a",\n  f,\n)', ["A1.1"]],
  ])("reads %j", (text, ids) => {
    expect(idsIn(text)).toEqual(ids);
  });

  it.each([
    '// it("[A1.1] a", f)',
    'expect("[A1.1]").toBe(a)',
    'commit("[A1.1] a")',
    'it.each([["[A1.1]"]])("%s", f)',
    'it("a list [1, 2] and a seat [A1]", f)',
    "it(name, f)",
  ])("reads nothing from %j", (text) => {
    expect(idsIn(text)).toEqual([]);
  });
});
