import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOwnPostgres, type OwnPostgres, startOwnPostgres } from "@tessera/testkit/engines/own-postgres";
import getPort from "get-port";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommands, sources } from "./follow-page.ts";
import { commandBlocks, readPage } from "./read-page.ts";

let machine: OneServer;
const servers: OwnPostgres[] = [];

beforeEach(async () => {
  machine = await makeServer();
});
afterEach(async () => {
  await machine.end();
  for (const server of servers.splice(0)) await server.stop();
});

/** What stands for a server: its folders and ports are others, and systemd is the test. */
interface OneServer {
  /** Runs blocks of the page one after the other in one shell, where programs of this folder come first. */
  follow(names: readonly string[], programs?: string): Promise<string>;
  /** Lets the commands that build the next version fail, or no longer. */
  breakBuilds(broken: { readonly areBroken: boolean }): void;
  /** How often the page has stopped the unit. */
  readonly stops: number;
  /** Where other commands run. */
  around(programs: string): Parameters<typeof runCommands>[1];
  /** Adds to the settings of the page. */
  addSetting(line: string): Promise<void>;
  send(path: string, options: { as: string; body: string; type?: string }): Promise<unknown>;
  stop(): Promise<void>;
  /** Loses the data folder, whatever runs on it. */
  lose(): Promise<void>;
  end(): Promise<void>;
}

async function makeServer(): Promise<OneServer> {
  const directory = await mkdtemp(join(tmpdir(), "tessera-one-server-"));
  await chmod(directory, 0o755);
  const at = (path: string) => join(directory, path);
  for (const folder of ["etc/systemd/system", "opt", "var"]) await mkdir(at(folder), { recursive: true });
  const [port, operations] = [await getPort({ host: "127.0.0.1" }), await getPort({ host: "127.0.0.1" })];
  const baseUrl = `http://127.0.0.1:${port}`;
  const page = await readPage("one-server.md");
  const all = [page, await readPage("daily-work.md")].flatMap(commandBlocks).map(({ commands }) => commands);
  const moved = (text: string) =>
    text
      .replaceAll(/(?<![\w/])\/(etc|opt|backup)\//g, `${directory}/$1/`)
      .replaceAll("/var/lib/tessera", at("var/tessera"))
      .replaceAll("https://tickets.example.org", baseUrl)
      .replaceAll("8000", String(port))
      .replaceAll("9090", String(operations));

  let unit: { process: ChildProcess; ended: Promise<unknown>; output: string } | undefined;
  let stops = 0;
  let areBuildsBroken = false;
  const isUp = () => unit?.process.exitCode === null && unit.process.signalCode === null;
  const startUnit = async () => {
    if (isUp()) return;
    const text = moved(await readFile(at("etc/systemd/system/tessera.service"), "utf8"));
    const entry = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(text)?.[1] ?? "";
    const settings = (await readFile(entry("EnvironmentFile"), "utf8")).trim().split("\n");
    const environment = settings.map((line) => line.split(/=(.*)/s, 2) as [string, string]);
    const [program = "", ...args] = entry("ExecStart").split(" ");
    const child = spawn(program, args, {
      cwd: entry("WorkingDirectory"),
      env: {
        PATH: process.env["PATH"] ?? "",
        ...Object.fromEntries(environment.map(([name, value]) => [name, value.replaceAll('"', "")])),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const started = { process: child, output: "", ended: new Promise((resolve) => child.once("close", resolve)) };
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (started.output += chunk.toString()));
    unit = started;
  };
  const stopUnit = async () => {
    if (isUp()) unit?.process.kill("SIGTERM");
    await unit?.ended;
  };
  const stopByPage = () => {
    stops += 1;
    return stopUnit();
  };
  const systemd = createServer((request, response) => {
    const [, verb = ""] = (request.url ?? "").split("/");
    const act = { start: startUnit, enable: startUnit, stop: stopByPage, "daemon-reload": async () => {} }[verb];
    const answer = (status: number, text: string) => response.writeHead(status).end(text);
    if (act === undefined) answer(404, `systemctl ${verb}`);
    else
      act().then(
        () => answer(200, ""),
        (error: unknown) => answer(500, String(error)),
      );
  });
  await new Promise<void>((resolve) => systemd.listen(0, "127.0.0.1", resolve));

  const around = (programs: string) => ({
    cwd: directory,
    environment: { PATH: `${programs}:${process.env["PATH"]}` },
  });
  return {
    around,
    async follow(names, programs = "/usr/bin") {
      const meant = names.map((name) => {
        const block = all.find((commands) => commands.includes(name));
        if (block === undefined) throw new Error(`no block of the page has ${name}`);
        return block;
      });
      // Accounts are those of the machine, and the clone is these sources.
      const script = `
BACKUP=$(echo ${at("backup")}/*)
useradd() { test "$*" = '--system --home-dir ${at("var/tessera")} --create-home tessera' && mkdir ${at("var/tessera")}; }
git() { if test "$1" = clone; then ln -s '${sources}' "$3"; else test "$1" = pull; fi; }
chown() { test "$*" = '-R tessera: ${at("var/tessera")}' && echo 'given to tessera'; }
${areBuildsBroken ? "npm() { test \"$*\" != 'run setup'; }" : ""}
systemctl() { curl --fail "http://127.0.0.1:${(systemd.address() as AddressInfo).port}/$1"; }
${moved(meant.join("\n"))}`;
      try {
        return await runCommands(script, around(programs));
      } catch (error) {
        throw new Error(
          `${error instanceof Error ? error.message : error}\nThe unit printed: ${unit?.output.slice(-3000)}`,
        );
      }
    },
    breakBuilds({ areBroken }) {
      areBuildsBroken = areBroken;
    },
    get stops() {
      return stops;
    },
    async addSetting(line) {
      const file = at("etc/tessera.env");
      await writeFile(file, `${await readFile(file, "utf8")}${line}\n`);
    },
    async send(path, { as, body, type = "application/json" }) {
      const file = await readFile(at("etc/tessera.env"), "utf8");
      const operatorKey = /^TESSERA_OPERATOR_KEY=(.*)$/m.exec(file)?.[1] ?? "";
      const answer = await fetch(`${baseUrl}/api/v1/${path}`, {
        method: "POST",
        headers: { authorization: as === "operator" ? `Token ${operatorKey}` : as, "content-type": type },
        body,
      });
      return answer.json();
    },
    stop: stopUnit,
    async lose() {
      await stopUnit();
      for (const path of ["var/tessera", "etc/tessera.env", "opt/tessera"]) await rm(at(path), { recursive: true });
    },
    async end() {
      await stopUnit();
      await closeServer(systemd);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function closeServer(server: Server): Promise<unknown> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
}

/** The blocks of the page in the order in which operators need them, each named by a text in it. */
const blocks = {
  install: ["useradd", "tessera.env <<END"],
  start: ["systemctl enable", "tessera()", "tessera status"],
  backUp: ['"$BACKUP"\nsystemctl start tessera'],
  restore: ['cp -a "$BACKUP/tessera.env"'],
  dump: ["pg_dump --format=custom --file"],
  restoreDump: ["pg_restore --exit-on-error --dbname"],
  upgrade: ["git pull"],
  watch: ["tessera-watch"],
} as const;
const define = "tessera()";

/** Those of the page about Docker are followed as far as that goes without it. */
const withDocker = ["POSTGRES_PASSWORD=", "docker compose cp", "docker compose run"];

/** Imports the example of the docs. */
async function sell(): Promise<void> {
  const body = await readFile(join(sources, "docs/example.ndjson"), "utf8");
  const answer = await machine.send("import/", { as: "operator", body, type: "application/x-ndjson" });
  expect(answer).toMatchObject({ rejected: 0, settled: true });
}

/** Scans the ticket of the example; `ok`, or why it was refused. */
async function scan(): Promise<unknown> {
  const path = "organizers/example/events/sampleconf/checkinlists/1/positions/example-ticket-jo-7k2m9p/redeem/";
  const answer = await machine.send(path, { as: "Device example-device-key-5d41c8a7", body: "{}" });
  const { status, reason } = answer as { status?: unknown; reason?: unknown };
  return reason ?? status;
}

describe("docs/one-server.md, followed as it is written", () => {
  it("[Y5.2, Y5.3] installs, starts, backs up, restores, upgrades and is watched, and a ticket is still admitted only once", async () => {
    const printed = await machine.follow([...blocks.install, ...blocks.start]);
    expect(printed).toContain("scripts/prepare.mjs");
    expect(printed).toContain("There are no events");
    expect(printed).toContain("Nothing is wrong");
    expect(await machine.follow(blocks.watch)).toBe("");
    await sell();
    expect(await scan()).toBe("ok");
    await machine.follow(blocks.backUp);

    await machine.lose();
    await machine.follow(blocks.install);
    const restored = await machine.follow([define, ...blocks.restore]);
    expect(restored).toContain("Nothing is wrong");
    // Copies keep the numbers of accounts, which may be others on a new machine.
    expect(restored).toContain("given to tessera");
    expect(await scan()).toBe("already_redeemed");

    const { stops } = machine;
    machine.breakBuilds({ areBroken: true });
    await machine.follow(blocks.upgrade);
    expect(machine.stops).toBe(stops);
    machine.breakBuilds({ areBroken: false });
    await machine.follow([...blocks.upgrade, define, "tessera status"]);
    expect(machine.stops).toBe(stops + 1);
    expect(await scan()).toBe("already_redeemed");
    await machine.stop();
    expect(await machine.follow(blocks.watch)).toContain("the platform of this folder does not run");
  });

  it("backs up and restores a PostgreSQL of one's own, with its roles, and a ticket is still admitted only once", async (context) => {
    const programs = findOwnPostgres();
    if (programs === undefined) return context.skip("needs a PostgreSQL with pg_dump: Debian's package postgresql");
    const startServer = async () => {
      const server = await startOwnPostgres(programs);
      servers.push(server);
      const created = `create database tessera encoding 'UTF8' lc_collate 'C' lc_ctype 'C.UTF-8' template template0`;
      expect(await readPage("operations.md")).toContain(created);
      await runCommands(`psql --command="${created}" '${server.urlOf("postgres")}'`, machine.around(programs));
      return `DATABASE_URL="${server.urlOf("tessera")}"`;
    };
    await machine.follow(blocks.install);
    await machine.addSetting(await startServer());
    await machine.follow(blocks.start);
    await sell();
    expect(await scan()).toBe("ok");
    await machine.follow(blocks.dump, programs);

    // The server is lost, too, with all of its roles.
    await machine.lose();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    await machine.follow(blocks.install);
    await machine.addSetting(await startServer());
    const restored = await machine.follow([define, ...blocks.restoreDump], programs);
    expect(restored).toContain("Nothing is wrong");
    expect(restored).toContain("given to tessera");
    expect(await scan()).toBe("already_redeemed");
  });

  it("is followed whole", async () => {
    const names = [...Object.values(blocks).flat(), ...withDocker];
    const pages = [await readPage("one-server.md"), await readPage("daily-work.md")];
    const all = pages.flatMap(commandBlocks).map(({ commands }) => commands);
    expect(all.filter((commands) => !names.some((name) => commands.includes(name)))).toEqual([]);
    for (const name of names) expect(all.filter((commands) => commands.includes(name))).toHaveLength(1);
  });
});
