import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Results } from "./record-results.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));

describe("test.mjs", () => {
  it("fails when no test ran, and says so in its last line", () => {
    const result = spawnSync(process.execPath, [join(root, "scripts/test.mjs"), "--only=unit", "no-such-test"], {
      encoding: "utf8",
    });
    expect(result.stdout.trimEnd().split("\n").at(-1)).toBe("0 passed, 0 failed");
    expect(result.status).toBe(1);
  });

  it("explains itself, and refuses an option that it does not know, without a stack", () => {
    const run = (option: string) =>
      spawnSync(process.execPath, [join(root, "scripts/test.mjs"), option], { encoding: "utf8" });
    expect(run("--help")).toMatchObject({
      status: 0,
      stderr: "",
      stdout: expect.stringContaining("npm test -- --only"),
    });
    expect(run("--olny=unit")).toMatchObject({
      status: 2,
      stderr: "Unknown option '--olny'; `npm test -- --help` lists the options\n",
    });
  });

  it("refuses a group that it does not know", () => {
    const result = spawnSync(process.execPath, [join(root, "scripts/test.mjs"), "--only=uint"], { encoding: "utf8" });
    expect(result.stderr).toBe(
      "--only takes checks, unit, db, kafka, redis, s3, helm, e2e, cluster, processes, fire, kubernetes, clients, not uint\n",
    );
    expect(result.status).toBe(2);
  });
});

describe("record-results.mjs", () => {
  const files = {
    "sound.test.ts": `it("passes", () => {}); it("lacks something", ({ skip }) => skip("no moon tonight"));`,
    "wrong.test.ts": `it("fails", () => { throw new Error("no"); }); it("passes", () => {});`,
    "unloadable.test.ts": `import "./nowhere.ts"; it("never runs", () => {});`,
    "hook.test.ts": `beforeAll(() => { throw new Error("no ground"); }); it("stands on it", () => {});`,
    "crash.test.ts": `it("kills its process", () => { process.kill(process.pid, "SIGKILL"); });`,
    "stray.test.ts": `it("forgets a promise", () => { void Promise.reject(new Error("lost")); });`,
  };
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tessera-results-"));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    mkdirSync(join(folder, "tests"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "tests", name), text);
    writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
    writeFileSync(join(folder, "vitest.config.mjs"), `export default { test: { globals: true } };`);
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it("counts what passed and what failed in which way, and says why something was skipped", () => {
    const reporter = join(root, "scripts/record-results.mjs");
    const results = join(folder, "results.json");
    const vitest = join(dirname(fileURLToPath(import.meta.resolve("vitest/package.json"))), "vitest.mjs");
    spawnSync(process.execPath, [vitest, "run", `--reporter=${reporter}`], {
      cwd: folder,
      env: { ...process.env, RESULTS_FILE: results },
    });
    const { passed, failed, skipped } = JSON.parse(readFileSync(results, "utf8")) as Results;
    expect(passed).toBe(3);
    expect(skipped).toContainEqual({ name: "tests/sound.test.ts > lacks something", reason: "no moon tonight" });
    for (const failure of [
      "tests/wrong.test.ts > fails",
      "tests/unloadable.test.ts: ",
      "tests/hook.test.ts: no ground",
      "tests/crash.test.ts",
      "an error outside every test: lost",
    ])
      expect(failed).toContainEqual(expect.stringContaining(failure));
  });
});
