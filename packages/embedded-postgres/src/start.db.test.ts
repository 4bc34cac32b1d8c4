import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isRunning } from "@tessera/kit/running-process";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { isReachable, runsAsRoot, unprivileged } from "./account.ts";
import { findBinaries } from "./binaries.ts";
import { createCluster } from "./create-cluster.ts";
import { prepareDataPlace } from "./data-place.ts";
import { readServerFile } from "./server-process.ts";
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from "./start.ts";

/** Only a Node that reads TypeScript can run the other process; the workspace brings one. */
const node = process.features.typescript
  ? process.execPath
  : fileURLToPath(new URL("../../../../node_modules/.bin/node", import.meta.url));

/** Whether these tests can also be an ordinary user: as root, unless the project is closed to others. */
const ordinary =
  runsAsRoot() && (await isReachable(node, unprivileged)) && (await isReachable(import.meta.filename, unprivileged));

const servers = new Set<EmbeddedPostgres>();
const children = new Set<ChildProcess>();
const rubbish = new Set<string>();

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  for (const server of servers) await server.stop();
  for (const path of rubbish) {
    const file = await readServerFile(join(path, "pg/data"));
    if (file !== undefined) await killServer(join(path, "pg"), "SIGQUIT");
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
  for (const set of [children, servers, rubbish]) set.clear();
});

/** A directory that is not there yet, below one that any account can pass. */
async function freshDirectory(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "tessera-embedded-"));
  await chmod(parent, 0o755);
  rubbish.add(parent);
  return join(parent, "pg");
}

async function start(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ durable: false, ...options });
  servers.add(server);
  return server;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** What a stopped server leaves in its directory. */
const left = ["data", "pg_hba.conf", "pg_ident.conf", "postgres.log"];

type Outcome = { url: string } | { code: string; message: string };

/** Starts another process that starts the server and then waits to be killed. */
function startElsewhere(options: EmbeddedOptions, account: { uid?: number; gid?: number } = {}) {
  const program = `
    import { startEmbeddedPostgres } from ${JSON.stringify(new URL("./start.ts", import.meta.url).href)};
    process.once("SIGHUP", () => process.exit(1));
    try {
      const server = await startEmbeddedPostgres(JSON.parse(process.argv[1]));
      console.log(JSON.stringify({ url: server.url }));
      process.once("SIGTERM", () => server.stop());
    } catch ({ code, message, stack }) {
      console.log(JSON.stringify({ code, message: code === undefined ? stack : message }));
    }
    setInterval(() => {}, 1000);`;
  const child = spawn(
    node,
    [
      "--disable-warning=ExperimentalWarning",
      "--input-type=module",
      "-e",
      program,
      JSON.stringify({ durable: false, ...options }),
    ],
    { ...account, cwd: "/", detached: true, stdio: ["ignore", "pipe", "inherit"] },
  );
  children.add(child);
  const outcome = once(createInterface({ input: child.stdout }), "line").then(([line]) => JSON.parse(line) as Outcome);
  return { child, outcome };
}

async function urlOf(outcome: Promise<Outcome>): Promise<string> {
  const result = await outcome;
  if (!("url" in result)) throw new Error(result.message);
  return result.url;
}

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

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** As a terminal does. */
async function signalGroup(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined) throw new Error("the process was not started");
  const ended = once(child, "exit");
  process.kill(-child.pid, signal);
  await ended;
}

async function killServer(directory: string, signal: NodeJS.Signals): Promise<void> {
  const file = await readServerFile(join(directory, "data"));
  if (file === undefined || !isRunning(file.pid)) return;
  process.kill(file.pid, signal);
  for (let tries = 0; isRunning(file.pid) && tries < 500; tries++) await sleep(10);
}

async function serverPid(directory: string): Promise<number> {
  const file = await readServerFile(join(directory, "data"));
  if (file === undefined) throw new Error("no server runs there");
  return file.pid;
}

describe("an embedded server", { timeout: 30_000 }, () => {
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

  it("goes on with a cluster of a machine that knows no letters beyond ASCII", async () => {
    const directory = await freshDirectory();
    const log = () => {};
    const place = await prepareDataPlace({ directory, log });
    const binaries = await findBinaries({ account: place.account, log });
    await createCluster({ place, binaries, durable: false, log, characterTypes: ["nn_NN.UTF-8", "C"] });
    const { url } = await start({ directory });
    await query(url, "create extension pg_trgm");
    expect(
      await query(url, "select cardinality(show_trgm('иван')) as cyrillic, cardinality(show_trgm('ivan')) as latin"),
    ).toEqual([{ cyrillic: 0, latin: 5 }]);
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
    expect(await modeOf("pg_hba.conf")).toEqual({ uid: own, gid, mode: runsAsRoot() ? 0o640 : 0o600 });
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
    await expect.poll(() => lines[1], { timeout: 10_000 }).toMatch(/ended by itself .*postgres\.log/);
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

describe("two on one directory", { timeout: 30_000 }, () => {
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

describe("after kill -9", { timeout: 60_000 }, () => {
  it("stops the server that went on alone, and finds the data", async () => {
    const directory = await freshDirectory();
    const { child, outcome } = startElsewhere({ directory });
    await query(await urlOf(outcome), "create table kept as select 42 as answer");
    const orphan = await serverPid(directory);
    await kill(child);
    expect(isRunning(orphan)).toBe(true);

    const lines: string[] = [];
    const server = await start({ directory, log: (line) => lines.push(line) });
    expect(isRunning(orphan)).toBe(false);
    expect(lines).toEqual([`stopping the database that an ended process left running (process ${orphan})`]);
    expect(await query(server.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  });

  it("recovers where the server was killed too, while its backends were at work", async () => {
    const directory = await freshDirectory();
    const { child, outcome } = startElsewhere({ directory });
    const url = await urlOf(outcome);
    await query(url, "create table kept as select 42 as answer");
    const busy = new pg.Client({ connectionString: url });
    busy.on("error", () => {});
    await busy.connect();
    const work = busy.query("select count(*) from generate_series(1, 30000000)").catch(() => undefined);
    await sleep(50);
    await kill(child);
    await killServer(directory, "SIGKILL");

    const server = await start({ directory });
    expect(await query(server.url, "select answer from kept")).toEqual([{ answer: 42 }]);
    await work;
    await busy.end().catch(() => {});
  });

  it("starts although the server's process id belongs to another process now", async () => {
    const directory = await freshDirectory();
    const { child, outcome } = startElsewhere({ directory });
    await urlOf(outcome);
    await kill(child);
    await killServer(directory, "SIGKILL");
    // A process of the same account, since the server takes no notice of others' ids.
    const stranger = spawn("/bin/sleep", ["60"], runsAsRoot() ? unprivileged : {});
    children.add(stranger);
    const file = join(directory, "data/postmaster.pid");
    await writeFile(file, (await readFile(file, "utf8")).replace(/^\d+/, String(stranger.pid)));

    await start({ directory });
    expect(stranger.exitCode).toBeNull();
    expect(stranger.signalCode).toBeNull();
  });

  it("starts from whatever a process leaves that is killed while it starts", async () => {
    let halfDone = 0;
    const isHalfDone = async (directory: string) =>
      (await readdir(directory)).some((name) => name.startsWith("data.new-"));
    for (const moment of [0, 150, 300, 450, "half done"] as const) {
      const directory = await freshDirectory();
      const { child, outcome } = startElsewhere({ directory });
      outcome.catch(() => {});
      while (!existsSync(directory)) await sleep(1);
      if (moment !== "half done") await sleep(moment);
      // Looking too seldom would miss it: a fast machine creates a cluster in less than half a second.
      else while (!(await isHalfDone(directory)) && child.exitCode === null) await sleep(1);
      // With all that it runs, except the server, which has a session of its own.
      await signalGroup(child, "SIGKILL");
      if (await isHalfDone(directory)) halfDone++;
      const server = await start({ directory });
      expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
      await server.stop();
      expect((await readdir(directory)).sort()).toEqual(left);
    }
    // Otherwise this says nothing about a cluster that is being created.
    expect(halfDone).toBeGreaterThan(0);
  });

  it.runIf(process.platform === "linux")("survives the Ctrl-C that ends its owner", async () => {
    const directory = await freshDirectory();
    const { child, outcome } = startElsewhere({ directory });
    await urlOf(outcome);
    const pid = await serverPid(directory);
    const session = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ")[3];
    expect(session).toBe(String(pid));
    await signalGroup(child, "SIGINT");
    expect(isRunning(pid)).toBe(true);
  });
});

describe("an owner that ends without stopping its server", { timeout: 30_000 }, () => {
  it("takes it along", async () => {
    const directory = await freshDirectory();
    const { child, outcome } = startElsewhere({ directory });
    await urlOf(outcome);
    const pid = await serverPid(directory);
    const ended = once(child, "exit");
    child.kill("SIGHUP");
    await ended;
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});

describe("places", { timeout: 30_000 }, () => {
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

  it.runIf(runsAsRoot())("does not begin anew where the data can no longer be reached", async () => {
    const directory = await freshDirectory();
    await (await start({ directory })).stop();
    await chmod(dirname(directory), 0o700);
    await expect(start({ directory })).rejects.toMatchObject({
      code: "data_directory_not_writable",
      message: expect.stringContaining("chmod o+x"),
    });
  });
});
