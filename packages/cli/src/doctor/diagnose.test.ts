import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveGrpc } from "@tessera/engines/grpc/server";
import { implement } from "@tessera/kit/rpc";
import { createLog } from "@tessera/kit/telemetry/log";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import { afterEach, describe, expect, it } from "vitest";
import { localPlatformFile, noteLocalPlatform } from "../local/local-platform.ts";
import { diagnose } from "./diagnose.ts";

const opened: Server[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const server of opened.splice(0)) await new Promise((resolve) => server.close(resolve));
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function listen(server: Server): Promise<number> {
  opened.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tessera-doctor-"));
  folders.push(folder);
  return folder;
}

async function examine(
  environment: Record<string, string>,
  { names = ["all"], limitMs = 10_000, health = [] as string[], data = "", isDataNamed = false } = {},
) {
  const question = {
    ...{ names, data: data || (await newFolder()), isDataNamed, health },
    // Only where a test wants one is a browser started.
    environment: { CHROMIUM_PATH: "/none", ...environment },
  };
  const findings = await diagnose(question, { limitMs });
  return {
    findings,
    of: (area: string) => findings.filter((each) => each.area === area),
    all: JSON.stringify(findings),
  };
}

/** A port at which nothing listens. */
async function deadPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Notes a running platform in its data folder. */
async function notePlatform(...operationsPorts: number[]) {
  const [data, url] = [await newFolder(), "http://localhost:8000"];
  const processes = operationsPorts.map((operationsPort) => ({ name: "all", operationsPort }));
  return { data, note: await noteLocalPlatform(data, { url, baseUrl: url, processes, isKeyInFolder: false }) };
}

describe("a platform that runs on the data folder", () => {
  it("misses its folder for files where the volume is away, and not where no file was stored yet", async () => {
    const { data } = await notePlatform(await deadPort());
    const folder = join(data, "files");
    const gone = { level: "wrong", what: `the folder ${folder} is gone, and the platform runs` };
    expect((await examine({}, { data })).of("files")[0]).toMatchObject(gone);
    await mkdir(folder);
    expect((await examine({}, { data })).of("files")[0]).toMatchObject(gone);
    expect((await examine({ FILES_DIR: await newFolder() }, { data })).of("files")[0]?.level).toBe("ok");
    await writeFile(join(folder, "made-by-tessera"), "");
    expect((await examine({}, { data })).of("files")[0]?.level).toBe("ok");
  });

  it("has a database elsewhere where the folder holds none", async () => {
    const { data } = await notePlatform(await deadPort());
    expect((await examine({}, { data })).of("database")).toMatchObject([
      { level: "skipped", why: expect.stringContaining("has its database elsewhere; set DATABASE_URL") },
    ]);
  });

  it("has a bus between its processes, whatever the settings here are", async () => {
    const { data } = await notePlatform(await deadPort(), await deadPort());
    expect((await examine({}, { data })).of("bus")).toMatchObject([
      { level: "skipped", why: expect.stringContaining("set BUS=kafka and KAFKA_BROKERS") },
    ]);
  });
});

const absent = {
  level: "wrong",
  what: "the platform of this folder does not run",
  mend: expect.stringContaining("systemctl start tessera"),
};

describe("what does not run", () => {
  it("is wrong where it was killed", async () => {
    const environment = { METRICS_PORT: String(await deadPort()) };
    const { data, note } = await notePlatform(Number(environment.METRICS_PORT));
    const path = join(data, localPlatformFile);
    const left = JSON.parse(await readFile(path, "utf8")) as object;
    await writeFile(path, JSON.stringify({ ...left, startMark: "of another process" }));
    expect((await examine(environment, { data })).of("processes")).toMatchObject([
      { level: "wrong", what: `the platform is down: process ${process.pid} has ended without being stopped` },
    ]);
    await note.forget();
    expect((await examine(environment, { data })).of("processes")).toMatchObject([absent]);
  });

  it("[Y1.1] is wrong where METRICS_PORT or the folder was named, and no fault where neither was", async () => {
    const data = await newFolder();
    const [metrics, rest] = [String(await deadPort()), String(await deadPort())];
    await writeFile(join(data, "operations-port"), `${metrics}\n`);
    const said = async (environment: Record<string, string>, { isDataNamed = false, names = ["all"] } = {}) =>
      (await examine({ HTTP_PORT: rest, ...environment }, { data, isDataNamed, names })).of("processes");
    expect(await said({}, { isDataNamed: true })).toMatchObject([absent]);
    expect(await said({ METRICS_PORT: metrics })).toMatchObject([absent]);
    expect(await said({ METRICS_PORT: metrics }, { names: ["voucher"] })).toMatchObject([
      { level: "wrong", what: "the process of these services does not run" },
    ]);
    expect(await said({})).toMatchObject([{ level: "skipped", what: "whether processes are ready" }]);
    await rm(join(data, "operations-port"));
    expect(await said({}, { isDataNamed: true })).toMatchObject([
      { ...absent, why: "the folder names no platform that runs" },
    ]);
  });

  it("[Y1.2] is told of another program at HTTP_PORT, unless the platform runs or no port was named", async () => {
    const held = await listen(createServer());
    const stranger = { level: "wrong", what: `another program holds port ${held}, which is HTTP_PORT` };
    const environment = { HTTP_PORT: String(held) };
    expect((await examine(environment, { isDataNamed: true })).of("processes")).toMatchObject([absent, stranger]);
    const metrics = { METRICS_PORT: String(await deadPort()) };
    expect((await examine({ ...environment, ...metrics })).of("processes")).toMatchObject([absent, stranger]);
    const { data, note } = await notePlatform(Number(metrics.METRICS_PORT));
    expect((await examine(environment, { data })).of("processes")).toHaveLength(1);
    await note.forget();
    await writeFile(join(data, "operations-port"), `${metrics.METRICS_PORT}\n`);
    expect((await examine(environment, { data })).of("processes")).toMatchObject([{ level: "skipped" }, stranger]);
    expect((await examine({ HTTP_PORT: metrics.METRICS_PORT }, { data })).of("processes")).toHaveLength(1);
  });

  it("is wrong where its process is there and does not answer, whatever METRICS_PORT is here", async () => {
    const port = await deadPort();
    const { data } = await notePlatform(port);
    const silent = {
      level: "wrong",
      what: `process ${process.pid} of the platform runs and does not answer at 127.0.0.1:${port}`,
    };
    expect((await examine({}, { data })).of("processes")).toMatchObject([silent]);
    expect((await examine({ METRICS_PORT: "1" }, { data })).of("processes")).toMatchObject([silent]);
  });

  it("is no fault in a folder where nothing was started yet, and nothing is created there", async () => {
    const { findings, of } = await examine({ HTTP_PORT: String(await deadPort()), CHROMIUM_PATH: "" });
    expect(findings.filter(({ level }) => level === "wrong" || level === "warning")).toEqual([]);
    expect(of("database")).toEqual([
      expect.objectContaining({ level: "skipped", why: expect.stringContaining("holds no database yet") }),
    ]);
    expect(await readdir(folders[0] ?? "")).toEqual([]);
  });

  it("is named with its setting, and secrets are not", async () => {
    const port = await deadPort();
    const { of, all } = await examine({
      DATABASE_URL: `postgresql://tessera:Pa55-of-db@127.0.0.1:${port}/tickets`,
      BUS: "kafka",
      KAFKA_BROKERS: `127.0.0.1:${port}`,
      CACHE: "redis",
      REDIS_URL: `redis://:Pa55-of-redis@127.0.0.1:${port}`,
      HTTP_PORT: String(port),
    });
    expect(of("database")).toEqual([
      expect.objectContaining({
        level: "wrong",
        what: `the database at 127.0.0.1:${port}/tickets cannot be used`,
        why: "nothing listens there (ECONNREFUSED)",
      }),
    ]);
    expect(of("bus")[0]).toMatchObject({ level: "wrong", mend: expect.stringContaining("KAFKA_BROKERS") });
    expect(of("cache")).toEqual([
      expect.objectContaining({
        level: "warning",
        what: `Redis at 127.0.0.1:${port} cannot be used`,
        why: expect.stringContaining("the platform works without it"),
      }),
    ]);
    expect(of("schemas").every(({ level }) => level === "skipped")).toBe(true);
    expect(all).not.toMatch(/Pa55/);
  });

  it("does not hang the doctor, be it a database, a cache or a process that does not answer", async () => {
    const silent = createServer(() => {});
    const port = await listen(silent);
    const connections: { destroy(): void }[] = [];
    silent.on("connection", (socket) => connections.push(socket));
    const { of } = await examine(
      {
        DATABASE_URL: `postgresql://tessera:x@127.0.0.1:${port}/tickets`,
        CACHE: "redis",
        REDIS_URL: `redis://127.0.0.1:${port}`,
      },
      { limitMs: 700, health: [`http://127.0.0.1:${port}`] },
    );
    for (const area of ["database", "cache", "processes"])
      expect(of(area)[0]).toMatchObject({
        level: "wrong",
        what: `the examination of the ${area} was not completed`,
        why: "no end within 0.7 seconds",
      });
    expect(of("schemas").map(({ what }) => what)).toContain(
      "the examination of the schema of checkin was not completed",
    );
    for (const connection of connections) connection.destroy();
  });
});

describe("processes", () => {
  it("are distinguished from other servers, and their clocks are compared with the one here", async () => {
    const other = await listen(createHttpServer((_request, response) => response.end("hello")));
    const ready = JSON.stringify({ ready: false, stage: "serving", dependencies: { "checkin database": "away" } });
    const minuteAgo = new Date(Date.now() - 60_000).toUTCString();
    const operations = await listen(
      createHttpServer((_request, response) => response.setHeader("date", minuteAgo).end(ready)),
    );
    const say = async (port: number) =>
      (await examine({ METRICS_PORT: String(port) })).of("processes").map(({ level, what }) => `${level}: ${what}`);
    expect(await say(operations)).toEqual([
      `wrong: the process at 127.0.0.1:${operations} is not ready: checkin database`,
      expect.stringMatching(
        new RegExp(`^wrong: the clock of the machine at 127.0.0.1:${operations} is (?:5[89]|60)\\.\\d seconds behind`),
      ),
    ]);
    expect(await say(other)).toEqual([`wrong: 127.0.0.1:${other} is no operations port of Tessera`]);
  });

  it("that speak gRPC are asked what every service can answer, however they are addressed", async () => {
    const log = createLog({ service: "test", destination: { write: () => {} } });
    const facts = implement(FactsServiceService, {
      markFacts: async () => ({ marker: "", partitions: [] }),
      caughtUp: async () => ({ caughtUp: false }),
    });
    const peer = await serveGrpc({ host: "127.0.0.1", port: 0, implementations: [facts], log });
    const address = `127.0.0.1:${peer.port}`;
    const { of } = await examine(
      {
        BOXOFFICE_ADDRESS: `ipv4:${address}`,
        CHECKIN_ADDRESS: address,
        METRICS_PORT: "0",
      },
      { names: ["gateway"] },
    );
    await peer.stop(0);
    expect(of("processes").map(({ what }) => what)).toEqual([
      `boxoffice answers at ipv4:${address}`,
      `checkin answers at ${address}`,
    ]);
  });

  it("are found missing where they were named", async () => {
    const port = await deadPort();
    const { of } = await examine(
      { BOXOFFICE_ADDRESS: `127.0.0.1:${port}` },
      { names: ["gateway"], health: [`http://127.0.0.1:${port}`] },
    );
    expect(of("processes").map(({ level, what }) => `${level}: ${what}`)).toEqual([
      `wrong: the process at 127.0.0.1:${port} does not answer`,
      `wrong: boxoffice does not answer at 127.0.0.1:${port}`,
    ]);
  });
});

describe("addresses and folders", () => {
  it("of a database, of links and of files are found where they lead elsewhere than was meant", async () => {
    const [url, data] = ["postgresql://tess:p#w@127.0.0.1:5432/tickets", join(await newFolder(), "typo")];
    const environment = { DATABASE_URL: url, BASE_URL: "https://tickets.example/api/v1/", FILES_DIR: "some/files" };
    const { findings, all } = await examine(environment, { data, isDataNamed: true });
    const bad = findings.filter(({ level }) => level === "wrong" || level === "warning");
    expect(bad.map(({ level, what }) => `${level}: ${what}`)).toEqual(
      expect.arrayContaining([
        "wrong: DATABASE_URL is no address of PostgreSQL",
        "wrong: BASE_URL ends with the path of the interface",
        `wrong: there is no data folder ${data}`,
        "warning: FILES_DIR is some/files, which is another folder wherever a process starts",
      ]),
    );
    expect(bad.find(({ what }) => what.startsWith("DATABASE_URL"))?.mend).toContain("%23 for #");
    expect(all).not.toContain("p#w");
  });
});

describe("what a process listens on", () => {
  it("is an address of this machine, and a port for each of its servers", async () => {
    const port = String(await deadPort());
    const wrongOf = async (environment: Record<string, string>) =>
      (await examine({ HTTP_PORT: port, ...environment }))
        .of("configuration")
        .filter(({ level }) => level === "wrong")
        .map(({ what }) => what);
    expect(await wrongOf({ HTTP_HOST: "127.0.0.1", METRICS_HOST: "::1" })).toEqual([]);
    // Addresses of the block for documentation.
    expect(await wrongOf({ HTTP_HOST: "192.0.2.7", METRICS_HOST: "192.0.2.8" })).toEqual([
      "HTTP_HOST is 192.0.2.7, which is no address of this machine",
      "METRICS_HOST is 192.0.2.8, which is no address of this machine",
    ]);
    expect(await wrongOf({ METRICS_PORT: port })).toEqual([`HTTP_PORT and METRICS_PORT are both ${port}`]);
  });
});

describe("files", () => {
  it("are tried out in a folder that is in use, leaving nothing", async () => {
    const folder = await newFolder();
    await mkdir(join(folder, "content"));
    const { of } = await examine({ FILES_DIR: folder });
    expect(of("files")[0]).toEqual({
      area: "files",
      level: "ok",
      what: `the folder ${folder} stores files and returns them`,
    });
    expect(await readdir(folder, { recursive: true })).toEqual(["content"]);
  });

  it("cannot be put where a file is in the way", async () => {
    for (const folder of [join(import.meta.filename, "files"), "/proc/tessera/files"]) {
      const { of } = await examine({ FILES_DIR: folder });
      expect(of("files")[0]).toMatchObject({ level: "wrong", mend: expect.stringContaining("FILES_DIR") });
    }
  });
});
