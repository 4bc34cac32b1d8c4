import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { nameRelease, version } from "./version.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tessera-release-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (clone: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
    cwd: clone,
    encoding: "utf8",
  }).trim();

it("a release is named with the commit of its clone, however git stores it", () => {
  const tree = join(folder, "tree");
  git(folder, "init", "--quiet", "--initial-branch", "main");
  git(folder, "commit", "--quiet", "--allow-empty", "--message", "one");
  const named = () => `${version} (commit ${git(folder, "rev-parse", "HEAD").slice(0, 12)})`;
  expect(nameRelease(folder)).toBe(named());
  git(folder, "pack-refs", "--all");
  expect(nameRelease(folder)).toBe(named());
  git(folder, "worktree", "add", "--quiet", tree);
  expect(nameRelease(tree)).toBe(named());
  git(folder, "checkout", "--quiet", "--detach");
  expect(nameRelease(folder)).toBe(named());
});

it("a release that is no clone is named with its version alone", () => {
  expect(nameRelease(folder)).toBe(version);
});
