import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { importRules } from "./architecture/import-rules.ts";
import { readSources, toSource } from "./architecture/read-sources.ts";
import type { Rule } from "./architecture/rule.ts";
import { textRules } from "./architecture/text-rules.ts";

const rules: readonly Rule[] = [...importRules, ...textRules];
const sources = readSources(fileURLToPath(new URL("../", import.meta.url)));

function apply(rule: Rule, repository: Readonly<Record<string, string>>) {
  return rule.find(Object.entries(repository).map(([path, text]) => toSource(path, text)));
}

describe("the repository", () => {
  it("has been read", () => {
    const paths = sources.map(({ path }) => path);
    expect(paths).toContain("test/architecture.test.ts");
    expect(paths).toContain("package.json");
    expect(paths.filter((path) => /node_modules|\/dist\/|\/gen\//.test(path))).toEqual([]);
  });

  for (const rule of rules) {
    it(rule.name, () => {
      const lines = rule.find(sources).map(({ path, line, what }) => `${path}:${line} ${what}`);
      expect(lines, rule.remedy).toEqual([]);
    });
  }
});

/** A rule that matches nothing any more would be kept by every repository. */
describe.each(rules)("the rule “$name”", (rule) => {
  it.each(rule.broken)("finds what breaks it: %j", (repository) => {
    expect(apply(rule, repository)).not.toEqual([]);
  });

  it.each(rule.sound)("leaves alone: %j", (repository) => {
    expect(apply(rule, repository)).toEqual([]);
  });

  it("holds for an empty repository", () => {
    expect(rule.find([])).toEqual([]);
  });
});
