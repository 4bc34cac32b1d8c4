import { describe, expect, it } from "vitest";
import { evaluateSample, meanings, patterns, printLayoutVariables } from "../../testing/print-layout-variables.ts";

describe("docs/layout-variables.md", () => {
  const values = evaluateSample();
  const described = Object.values(meanings).flatMap((group) => Object.entries(group));

  it("has the variables that layouts are printed with (`npm run layout-variables` writes it)", async () => {
    await expect(printLayoutVariables()).toMatchFileSnapshot("../../../../../docs/layout-variables.md");
  });

  it("says what every variable means", () => {
    const beginnings = patterns.map(({ name }) => name.slice(0, name.indexOf("<")));
    const names = described.map(([name]) => name);
    const others = [...values.keys()].filter((name) => !names.includes(name));
    expect(others.filter((name) => !beginnings.some((beginning) => name.startsWith(beginning)))).toEqual([]);
    expect(names.filter((name) => !values.has(name))).toEqual([]);
    for (const [name, meaning] of described) expect(meaning, name).toMatch(/^[A-Z].*\.$/s);
  });

  it("has a sample of every variable that can have a value", () => {
    const empty = Object.keys(meanings["Always empty"] ?? {});
    const missing = [...described.map(([name]) => name), ...patterns.map(({ example }) => example)].filter(
      (name) => !values.get(name),
    );
    expect(missing.sort()).toEqual([...empty, "attendee_state", "invoice_state"].sort());
  });
});
