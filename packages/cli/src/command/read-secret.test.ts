import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readSecret, warnInClear } from "./read-secret.ts";

describe("a secret of the command line", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "tessera-secret-"));
    vi.stubEnv("SOME_SECRET", "of the variable");
  });
  afterEach(() => rm(directory, { recursive: true }));

  const read = (rest: { given?: string; file?: string } = {}) =>
    readSecret({ option: "key", given: undefined, file: undefined, variable: "SOME_SECRET", ...rest });

  it("comes from the variable, the option or a file, whose last line may end", async () => {
    const file = join(directory, "key");
    await writeFile(file, "of the file\n");
    expect([read(), read({ given: "" }), read({ given: "of the option" }), read({ file })]).toEqual([
      "of the variable",
      "of the variable",
      "of the option",
      "of the file",
    ]);
    vi.stubEnv("SOME_SECRET", "");
    expect(read()).toBeUndefined();
  });

  it("is not looked for elsewhere where its file is missing or empty, or it is given twice", async () => {
    const file = join(directory, "key");
    expect(() => read({ file })).toThrow(/key, which --key-file names, cannot be read/);
    await writeFile(file, " \n");
    expect(() => read({ file })).toThrow(/is empty/);
    expect(() => read({ file, given: "x" })).toThrow("either --key or --key-file, not both");
  });
});

describe("a secret that is sent", () => {
  it.each([
    ["http://localhost:8000", false],
    ["http://127.0.0.1:8000", false],
    ["http://[::1]:8000", false],
    ["https://tickets.example", false],
    ["nonsense", false],
    ["http://tickets.example:8000", true],
    ["http://192.168.1.2", true],
    ["HTTP://localhost.example", true],
  ])("to %s is warned about: %j", (url, isWarned) => {
    const lines: string[] = [];
    vi.spyOn(process.stderr, "write").mockImplementation((text) => lines.push(String(text)) > 0);
    warnInClear(url, "the operator key");
    expect(lines).toEqual(isWarned ? [expect.stringMatching(/^warning: the operator key goes to .* without enc/)] : []);
  });
});
