import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runsAsRoot, unprivileged } from "./account.ts";
import { findBinaries } from "./binaries.ts";

let directory: string;
let root: string;
let lines: string[];
const log = (line: string) => void lines.push(line);

/** A package as it is before its install script has run. */
beforeEach(async () => {
  lines = [];
  directory = await mkdtemp(join(tmpdir(), "tessera-binaries-"));
  await chmod(directory, 0o755);
  root = join(directory, "installation/linux-x64");
  for (const folder of ["bin", "lib/postgresql", "share/postgresql"]) {
    await mkdir(join(root, "native", folder), { recursive: true });
  }
  await writeFile(join(root, "package.json"), JSON.stringify({ version: "18.4.0-beta.17" }));
  await writeFile(
    join(root, "native/pg-symlinks.json"),
    JSON.stringify([{ source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" }]),
  );
  await writeFile(join(root, "native/lib/libpq.so.5.18"), "library");
  await writeFile(join(root, "native/share/postgresql/postgres.bki"), "catalog");
  for (const program of ["initdb", "postgres"]) {
    await writeFile(join(root, "native/bin", program), "#!/bin/sh\n", { mode: 0o755 });
  }
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

describe("findBinaries", () => {
  it("uses the package where it lies and completes its links", async () => {
    const caches = [join(directory, "cache")];
    for (let time = 0; time < 2; time++) {
      expect(await findBinaries({ package: root, caches, log })).toEqual({
        initdb: join(root, "native/bin/initdb"),
        postgres: join(root, "native/bin/postgres"),
        major: "18",
      });
    }
    expect(await readlink(join(root, "native/lib/libpq.so.5"))).toBe("libpq.so.5.18");
    expect(await readdir(directory)).toEqual(["installation"]);
    expect(lines).toEqual([]);
  });

  it.runIf(runsAsRoot())("copies it once for an account that cannot reach it, readable for all", async () => {
    await chmod(join(root, "native/bin/postgres"), 0o700);
    await chmod(join(root, "native/lib/libpq.so.5.18"), 0o600);
    await chmod(join(directory, "installation"), 0o700);
    const cache = join(directory, "cache");
    const copy = join(cache, "linux-x64-18.4.0-beta.17");
    const options = { package: root, account: unprivileged, caches: [cache], log };
    const found = await Promise.all([findBinaries(options), findBinaries(options)]);
    expect(new Set(found.map(({ postgres }) => postgres))).toEqual(new Set([join(copy, "native/bin/postgres")]));
    expect((await stat(join(copy, "native/bin/postgres"))).mode & 0o777).toBe(0o755);
    expect((await stat(join(copy, "native/lib/libpq.so.5"))).mode & 0o777).toBe(0o644);
    expect(await readlink(join(copy, "native/lib/libpq.so.5"))).toBe("libpq.so.5.18");
    expect(await readdir(cache)).toEqual(["linux-x64-18.4.0-beta.17"]);

    lines = [];
    await findBinaries(options);
    expect(lines).toEqual([]);
  });

  it.runIf(runsAsRoot())("takes no copy from a cache that others can write to", async () => {
    await chmod(join(directory, "installation"), 0o700);
    const writable = join(directory, "writable");
    const foreign = join(directory, "foreign");
    const good = join(directory, "good");
    await mkdir(writable);
    await chmod(writable, 0o777);
    await mkdir(foreign);
    await chown(foreign, unprivileged.uid, unprivileged.gid);
    const { postgres } = await findBinaries({
      package: root,
      account: unprivileged,
      caches: [writable, foreign, good],
      log,
    });
    expect(postgres.startsWith(good)).toBe(true);
    await expect(
      findBinaries({ package: root, account: unprivileged, caches: [writable, foreign], log }),
    ).rejects.toMatchObject({
      kind: "unmet",
      code: "embedded_database_missing",
      message: expect.stringContaining("--database-url"),
    });
  });

  it.runIf(runsAsRoot())("sweeps away what a killed process copied in part", async () => {
    await chmod(join(directory, "installation"), 0o700);
    const cache = join(directory, "cache");
    await mkdir(join(cache, "linux-x64-18.4.0-beta.17.2147483647-1"), { recursive: true });
    await findBinaries({ package: root, account: unprivileged, caches: [cache], log });
    expect(await readdir(cache)).toEqual(["linux-x64-18.4.0-beta.17"]);
    expect((await lstat(join(cache, "linux-x64-18.4.0-beta.17"))).isDirectory()).toBe(true);
  });
});
