import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runVerb } from "./command/run-verb.ts";
import { examples, verbs } from "./verbs.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

let clone: string | undefined;
afterEach(() => {
  if (clone !== undefined) rmSync(clone, { recursive: true });
  clone = undefined;
});

async function helpOf(...args: string[]): Promise<string> {
  let printed = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    printed += String(chunk);
    return true;
  });
  await runVerb("tessera", verbs, args, { examples }).finally(() => write.mockRestore());
  return printed;
}

describe("the help of a clone that is not set up", () => {
  it("is that of the command (`npm run help-texts` writes it)", async () => {
    await expect(await helpOf("help")).toMatchFileSnapshot("../../../scripts/help/tessera.txt");
    await expect(await helpOf("serve", "all", "--demo", "--help")).toMatchFileSnapshot(
      "../../../scripts/help/start.txt",
    );
  });

  it("is printed without installing anything", async () => {
    clone = mkdtempSync(join(tmpdir(), "tessera-clone-"));
    for (const path of ["package.json", "scripts/help"])
      cpSync(join(root, path), join(clone, path), { recursive: true });
    const npm = async (...args: string[]) => (await promisify(execFile)("npm", args, { cwd: clone })).stdout;
    expect(await npm("start", "--silent", "--", "--help")).toContain("--no-demo");
    for (const args of [["help"], ["--help"], []])
      expect(await npm("run", "--silent", "tessera", "--", ...args), String(args)).toContain("tessera VERB --help");
    await expect(npm("start", "--silent", "--", "--port", "1")).rejects.toThrow("prepare.mjs");
    await expect(npm("run", "--silent", "tessera", "--", "help", "keys")).rejects.toThrow("prepare.mjs");
  });
});
