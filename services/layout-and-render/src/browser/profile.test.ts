import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { browsersFolder, createProfile } from "./profile.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tessera-profiles-"));
  vi.stubEnv("TMPDIR", folder);
});
afterEach(() => rm(folder, { recursive: true }));

const create = () => createProfile({ fonts: folder, libraries: undefined });

const ended = () => spawnSync("true").pid;

describe("[L38.5] the folder of a browser", () => {
  it("that was killed goes with the next one; what anybody else laid out beside it stays", async () => {
    const kept = await create();
    const [orphan, foreign] = [join(browsersFolder(), `${ended()}-x`), join(folder, `tessera-browser-${ended()}-x`)];
    for (const each of [orphan, foreign]) await mkdir(each);
    const next = await create();
    expect([orphan, foreign, kept.folder, next.folder].map(existsSync)).toEqual([false, true, true, true]);
  });

  it("is made in no folder that others can write to, or that is elsewhere", async () => {
    const elsewhere = join(folder, "elsewhere");
    const orphan = join(elsewhere, `${ended()}-x`);
    await mkdir(orphan, { recursive: true });
    await writeFile(join(orphan, "file"), "");
    await symlink(elsewhere, browsersFolder());
    await expect(create()).rejects.toThrow("remove it");
    await rm(browsersFolder());
    await mkdir(browsersFolder());
    await chmod(browsersFolder(), 0o777);
    await expect(create()).rejects.toThrow("remove it");
    expect(existsSync(orphan)).toBe(true);
  });
});
