import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { runsAsRoot, unprivileged } from "./account.ts";
import { kill, ordinary, urlOf } from "./testing/other-process.ts";
import { queryThrough, removedServers } from "./testing/removed-servers.ts";

const { freshDirectory, rubbish, start, startElsewhere } = removedServers();
const query = queryThrough(pg.Client);

describe("places", () => {
  it("refuses a file in the place of a directory", async () => {
    const directory = await freshDirectory();
    await writeFile(directory, "");
    for (const path of [directory, join(directory, "below")]) {
      await expect(start({ directory: path })).rejects.toMatchObject({ code: "data_directory_not_writable" });
    }
  });

  it("refuses a cluster of another version, and things that are no cluster", async () => {
    const directory = await freshDirectory();
    const data = join(directory, "data");
    await mkdir(data, { recursive: true });
    await writeFile(join(data, "letter.txt"), "dear reader");
    await expect(start({ directory })).rejects.toMatchObject({ code: "data_directory_not_writable" });
    expect(await readdir(data)).toEqual(["letter.txt"]);
    await writeFile(join(data, "PG_VERSION"), "15\n");
    await expect(start({ directory })).rejects.toMatchObject({
      code: "data_directory_of_other_version",
      message: expect.stringMatching(/PostgreSQL 15 .* 18/),
    });
  });

  it.runIf(ordinary)("works for an ordinary user, and refuses where that user cannot write", async () => {
    const directory = await freshDirectory();
    const someone = { uid: unprivileged.uid, gid: unprivileged.uid };
    const account = { uid: 1234, gid: 1234 };
    const refused = startElsewhere({ directory }, someone);
    expect(await refused.outcome).toMatchObject({ code: "data_directory_not_writable" });
    await chown(dirname(directory), account.uid, account.gid);
    const nameless = startElsewhere({ directory }, account);
    expect(await nameless.outcome).toMatchObject({ code: "embedded_database_failed" });

    await rm(directory, { recursive: true });
    await chown(dirname(directory), someone.uid, someone.gid);
    const { child, outcome } = startElsewhere({ directory }, someone);
    await query(await urlOf(outcome), "create table kept as select 42 as answer");
    expect((await stat(join(directory, "data"))).uid).toBe(someone.uid);
    await kill(child);

    const server = await start({ directory });
    expect(await query(server.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  });

  it.runIf(runsAsRoot())("moves what the database's account cannot reach, says so, and stays there", async () => {
    const parent = dirname(await freshDirectory());
    const directory = join(parent, "closed/pg");
    await mkdir(dirname(directory), { mode: 0o700 });
    const lines: string[] = [];
    const first = await start({ directory, log: (line) => lines.push(line) });
    rubbish.add(first.dataDirectory);
    expect(first.dataDirectory).toMatch(/^\/var\/lib\/tessera\/[0-9a-f]{16}$/);
    expect(lines[0]).toContain(first.dataDirectory);
    expect(lines[0]).toContain(directory);
    await query(first.url, "create table kept as select 42 as answer");
    await first.stop();

    await chmod(dirname(directory), 0o755);
    const second = await start({ directory });
    expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  });

  it.runIf(runsAsRoot())("opens an empty directory of its own that was closed, as temporary ones are", async () => {
    const directory = await mkdtemp(join(tmpdir(), "tessera-embedded-"));
    rubbish.add(directory);
    const server = await start({ directory });
    expect(server.dataDirectory).toBe(directory);
    expect((await stat(directory)).mode & 0o777).toBe(0o710);
  });

  it.runIf(runsAsRoot())("does not begin again where the data can no longer be reached", async () => {
    const directory = await freshDirectory();
    await (await start({ directory })).stop();
    await chmod(dirname(directory), 0o700);
    await expect(start({ directory })).rejects.toMatchObject({
      code: "data_directory_not_writable",
      message: expect.stringContaining("chmod o+x"),
    });
  });
});

describe("two on one directory", () => {
  it("refuses the second, in this process and in another, and does not harm the first", async () => {
    const directory = await freshDirectory();
    const server = await start({ directory });
    const refusal = { code: "data_directory_in_use", message: expect.stringContaining(String(process.pid)) };
    await expect(start({ directory })).rejects.toMatchObject(refusal);
    expect(await startElsewhere({ directory }).outcome).toMatchObject(refusal);
    expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("lets one of several win that start at once on nothing", async () => {
    const directory = await freshDirectory();
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => startElsewhere({ directory }).outcome));
    const urls = outcomes.flatMap((outcome) => ("url" in outcome ? [outcome.url] : []));
    expect(urls).toHaveLength(1);
    const refusals = outcomes.flatMap((outcome) => ("code" in outcome ? [outcome.code] : []));
    expect(refusals).toEqual(Array(3).fill("data_directory_in_use"));
    expect(await query(urls[0] ?? "", "select 1 as one")).toEqual([{ one: 1 }]);
  });
});
