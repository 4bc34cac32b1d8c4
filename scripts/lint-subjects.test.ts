import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";

const script = join(import.meta.dirname, "lint-subjects.mjs");
const folder = mkdtempSync(join(tmpdir(), "tessera-subjects-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (cwd: string) => spawnSync(process.execPath, [script], { cwd, encoding: "utf8" });

function commit(subject: string, date: string): void {
  const person = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
  const args = [...person, "commit", "--quiet", "--allow-empty", `--date=${date}`, `--message=${subject}`];
  execFileSync("git", args, { cwd: folder });
}

it("refuses subjects of more than 72 characters, but for old ones, also where the clone is shallow", () => {
  expect(run(folder).status).toBe(0);
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
  expect(run(folder).status).toBe(0);
  commit("o".repeat(100), "2026-01-01T00:00:00Z");
  commit("ü".repeat(72), "2099-01-01T00:00:00Z");
  expect(run(folder)).toMatchObject({ status: 0, stdout: "" });
  commit("x".repeat(73), "2099-01-01T00:00:00Z");
  commit("short", "2099-01-01T00:00:00Z");
  expect(run(folder)).toMatchObject({ status: 1, stdout: expect.stringContaining(`has 73: ${"x".repeat(73)}`) });
  const shallow = join(folder, "shallow");
  execFileSync("git", ["clone", "--quiet", "--depth=1", `file://${folder}`, shallow]);
  expect(run(shallow).status).toBe(0);
});
