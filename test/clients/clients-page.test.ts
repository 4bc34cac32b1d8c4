import { generatorVersions } from "@tessera/testkit/engines/client-generators";
import { describe, expect, it } from "vitest";
import packageOfTests from "../package.json" with { type: "json" };
import { readClientsPage } from "./clients-page.ts";
import { programs, readProgram } from "./run-client.ts";

/** Without the space at the beginning of lines: a page shows the middle of a program as its beginning. */
const lines = (text: string) => text.replaceAll(/^\s+/gm, "");

describe("the page of clients", () => {
  const page = readClientsPage();

  it("has the languages that are tested, and no others", () => {
    expect([...page.keys()]).toEqual(Object.keys(programs));
  });

  it.each(Object.entries(programs))("shows of %s what the test runs", async (language, name) => {
    const program = lines(await readProgram(name));
    const shown = (page.get(language) ?? []).filter(({ kind }) => kind !== "sh" && kind !== "yaml");
    expect(shown.length).toBeGreaterThan(1);
    for (const { text } of shown) expect(program).toContain(lines(text));
  });

  it("names the versions that are tested", () => {
    const told = JSON.stringify([...page.values()].flat());
    const { typescript, ...others } = packageOfTests.devDependencies;
    const { "openapi-fetch": fetch, "openapi-typescript": generator } = others;
    const versions = { ...generatorVersions, typescript, "openapi-fetch": fetch, "openapi-typescript": generator };
    for (const [name, version] of Object.entries(versions)) {
      const named = [...told.matchAll(new RegExp(`(?<![\\w-])${name}(?:@|==|:)([\\d.]+)`, "g"))].map(
        ([, number]) => number,
      );
      expect(new Set(named), name).toEqual(new Set([version]));
    }
  });
});
