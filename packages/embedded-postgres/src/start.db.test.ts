import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { runsAsRoot, unprivileged } from "./account.ts";
import { node, ordinary } from "./testing/other-process.ts";
import { killServer, left, queryThrough, removedServers } from "./testing/removed-servers.ts";

const { freshDirectory, start } = removedServers();
const query = queryThrough(pg.Client);

/** Connects, and opens a file for writing, as another user; returns the codes of both failures. */
async function attemptAs(
  account: { uid: number; gid: number },
  { url, file }: { url: string; file: string },
): Promise<unknown> {
  const program = `
    import { open } from "node:fs/promises";
    import pg from ${JSON.stringify(import.meta.resolve("pg"))};
    const [url, file] = process.argv.slice(1);
    const client = new pg.Client({ connectionString: url });
    const codeOf = (work) => work.then(() => "none", ({ code }) => code);
    console.log(JSON.stringify([await codeOf(client.connect()), await codeOf(open(file, "r+"))]));
    process.exit();`;
  const args = ["--input-type=module", "-e", program, url, file];
  const { stdout } = await promisify(execFile)(node, args, { ...account, cwd: "/" });
  return JSON.parse(stdout);
}

describe("an embedded server", () => {
  it("serves UTF-8 through its socket alone, and keeps its data over a stop", async () => {
    const directory = await freshDirectory();
    const lines: string[] = [];
    const first = await start({ directory, durable: true, log: (line) => lines.push(line) });
    expect(first.dataDirectory).toBe(directory);
    expect(lines).toEqual([`created a database cluster in ${directory}`]);
    const [facts] = await query(
      first.url,
      `select current_setting('server_version_num')::int / 10000 as major, current_setting('listen_addresses') as addresses,
              current_setting('synchronous_commit') as synchronous, current_setting('fsync') as fsync,
              current_setting('max_connections') as connections, current_setting('jit') as jit,
              current_setting('timezone') as timezone, current_user as account,
              encoding, datlocprovider::text as provider, datlocale as locale, upper('straße ŵ') as upper
         from pg_database where datname = current_database()`,
    );
    expect(facts).toEqual({
      major: 18,
      addresses: "",
      synchronous: "on",
      fsync: "on",
      connections: "200",
      jit: "off",
      timezone: "UTC",
      account: "postgres",
      encoding: 6,
      provider: "b",
      locale: "C.UTF-8",
      upper: "STRAßE Ŵ",
    });
    await query(first.url, "create extension pg_trgm");
    expect(
      await query(
        first.url,
        `select cardinality(show_trgm('иван')) > 0 as cyrillic, cardinality(show_trgm('王小明')) > 0 as han,
                'Z' < 'a' as "by code"`,
      ),
    ).toEqual([{ cyrillic: true, han: true, "by code": true }]);
    await query(first.url, "create table kept as select 42 as answer");
    await first.stop();
    await first.stop();
    expect((await readdir(directory)).sort()).toEqual(left);

    const second = await start({ directory, settings: { work_mem: "5MB", max_connections: "33" } });
    expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
    expect(await query(second.url, "show work_mem")).toEqual([{ work_mem: "5MB" }]);
    expect(await query(second.url, "show max_connections")).toEqual([{ max_connections: "33" }]);
    expect(await query(second.url, "show fsync")).toEqual([{ fsync: "off" }]);
  });

  it("lets nobody but its account into its directories", async () => {
    const directory = await freshDirectory();
    await start({ directory });
    const modeOf = async (name: string) => {
      const { uid, gid, mode } = await stat(join(directory, name));
      return { uid, gid, mode: mode & 0o777 };
    };
    const [own, group] = [process.getuid?.(), process.getgid?.()];
    const { uid, gid } = runsAsRoot() ? unprivileged : { uid: own, gid: group };
    expect(await modeOf("data")).toEqual({ uid, gid, mode: 0o700 });
    expect(await modeOf("run")).toEqual({ uid: own, gid, mode: runsAsRoot() ? 0o730 : 0o700 });
    expect(await modeOf("pg_hba.conf")).toEqual({ uid: own, gid: group, mode: 0o644 });
    if (runsAsRoot()) expect(await modeOf(".")).toEqual({ uid: 0, gid, mode: 0o710 });
  });

  it.runIf(ordinary)("[S11.8] is closed to other programs that run as its user", async () => {
    // A short path, and one that does not fit: then the socket is in the temporary directory.
    for (const name of ["pg", "long-".repeat(25)]) {
      const directory = join(dirname(await freshDirectory()), name);
      const { url } = await start({ directory });
      expect(await query(url, "select current_user as me")).toEqual([{ me: "postgres" }]);
      const nogroup = { uid: unprivileged.uid, gid: unprivileged.uid };
      expect(await attemptAs(nogroup, { url, file: join(directory, "data/PG_VERSION") })).toEqual(["EACCES", "EACCES"]);
      // Even if it got through, it would not be taken for the owner.
      expect(await attemptAs(unprivileged, { url, file: join(directory, "pg_hba.conf") })).toEqual(["28000", "EACCES"]);
    }
  });

  it("stops although clients are connected", async () => {
    const server = await start({ directory: await freshDirectory() });
    const client = new pg.Client({ connectionString: server.url });
    client.on("error", () => {});
    await client.connect();
    await client.query("begin");
    const began = Date.now();
    await server.stop();
    // A server that waited for its clients would be told again after twenty seconds, less kindly.
    expect(Date.now() - began).toBeLessThan(18_000);
    await client.end().catch(() => {});
  });

  it("tells when it ended by itself", async () => {
    const directory = await freshDirectory();
    const lines: string[] = [];
    const server = await start({ directory, log: (line) => lines.push(line) });
    await killServer(directory, "SIGQUIT");
    await expect.poll(() => lines[1]).toMatch(/ended by itself .*postgres\.log/);
    await server.stop();
  });

  it("puts its socket into a short directory where its own is too long or means something in a list", async () => {
    for (const name of ["long-".repeat(25), "a, b"]) {
      const directory = join(dirname(await freshDirectory()), name, "pg");
      const server = await start({ directory });
      const socketDirectory = new URL(server.url.replace("@/", "@x/")).searchParams.get("host") ?? "";
      expect(socketDirectory.startsWith(join(tmpdir(), "tessera-pg-"))).toBe(true);
      expect((await stat(socketDirectory)).mode & 0o007).toBe(0);
      expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
      await server.stop();
      expect(existsSync(socketDirectory)).toBe(false);
    }
  });

  it("keeps the names in failing statements out of its log", async () => {
    const directory = await freshDirectory();
    const { url } = await start({ directory });
    await query(url, "create table guest (name text primary key); insert into guest values ('Ada Lovelace')");
    await expect(query(url, "insert into guest values ('Ada Lovelace')")).rejects.toThrow("duplicate key");
    expect(await readFile(join(directory, "postgres.log"), "utf8")).not.toContain("Lovelace");
  });

  it("says what is wrong with a setting, and leaves nothing behind", async () => {
    const directory = await freshDirectory();
    await expect(start({ directory, settings: { work_mem: "plenty" } })).rejects.toMatchObject({
      code: "embedded_database_failed",
      message: expect.stringMatching(/work_mem.*--database-url/),
    });
    expect((await readdir(directory)).sort()).toEqual(left);
  });
});
