import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "@tessera/kit/service/running-process";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { runsAsRoot, unprivileged } from "./account.ts";
import { readServerFile } from "./server-process.ts";
import { kill, signalGroup, urlOf } from "./testing/other-process.ts";
import { killServer, left, queryThrough, removedServers } from "./testing/removed-servers.ts";

const { children, freshDirectory, start, startElsewhere } = removedServers();
const query = queryThrough(pg.Client);

async function serverPid(directory: string): Promise<number> {
  const file = await readServerFile(join(directory, "data"));
  if (file === undefined) throw new Error("no server runs there");
  return file.pid;
}

describe("after kill -9", () => {
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

describe("an owner that ends without stopping its server", () => {
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
