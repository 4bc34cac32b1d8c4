import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { isRunning } from "@tessera/kit/service/running-process";
import getPort from "get-port";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningCommand, runCommand } from "./command.ts";
import { findDescendants } from "./find-processes.ts";
import { compareReads, walkExamples } from "./walk-examples.ts";

const run = promisify(execFile);
const fixedKey = "fixed-operator-key-0123456789";

describe("tessera serve all", () => {
  let directory: string;
  const started: RunningCommand[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "tessera-start-"));
    await chmod(directory, 0o755);
  });
  afterEach(async () => {
    for (const command of started.splice(0)) {
      if (command.process.exitCode === null && command.process.signalCode === null) command.process.kill("SIGTERM");
      await command.ended;
    }
    await rm(directory, { recursive: true, force: true });
  });

  function serve(port: number, args: string[] = [], environment: Record<string, string> = {}): RunningCommand {
    const command = runCommand(
      ["serve", "all", "--port", String(port), "--data", join(directory, "data"), ...args],
      environment,
    );
    started.push(command);
    return command;
  }

  /** Runs one of the printed lines, which answer JSON, as a shell would. */
  async function paste(output: string, index: number): Promise<Record<string, unknown>> {
    const line = output.split("\n").filter((text) => text.trim().startsWith("curl "))[index];
    if (line === undefined) throw new Error(`no curl line ${index} in ${output}`);
    const variables = output.split("\n").filter((text) => /^ +[A-Z]+=["']/.test(text));
    for (const printed of [...variables, line]) expect(printed.length).toBeLessThan(100);
    const script = [...variables.map((text) => text.trim()), line.trim()].join("\n");
    const { stdout } = await run("sh", ["-c", `${script} --silent --show-error --max-time 200`], {
      cwd: directory,
    });
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  it("[P5.2, R1.5, S9.3, S9.7] loads the demo, whose curl lines survive kill -9 and a restart, and whose documented examples work", async () => {
    const port = await getPort({ host: "127.0.0.1" });
    const first = serve(port, ["--demo"]);
    const output = await first.printed("Ctrl-C stops it.");
    const operatorKey = /operator key +(\w+)/.exec(output)?.[1] ?? "";
    expect(await compareReads({ url: `http://127.0.0.1:${port}`, operatorKey })).toBeGreaterThan(12);
    expect(await paste(output, 2)).toMatchObject({ checkin_count: 0, position_count: 2980 });
    expect(((await paste(output, 0)) as { count: number }).count).toBeGreaterThan(0);
    expect(await paste(output, 1)).toMatchObject({ status: "ok" });
    expect(await paste(output, 1)).toMatchObject({ status: "error", reason: "already_redeemed" });
    expect(await paste(output, 2)).toMatchObject({ checkin_count: 1, inside_count: 1 });

    first.process.kill("SIGKILL");
    await first.ended;

    const second = serve(port, ["--demo"], { LOG_LEVEL: "debug" });
    const again = await second.printed("Ctrl-C stops it.");
    const keysIn = (text: string) => text.split("\n").filter((line) => / key /.test(line));
    expect(keysIn(again)).toEqual(keysIn(output));
    expect(keysIn(again)).toHaveLength(3);
    const boardLink = (text: string) => /http:\/\/\S+\/board\/#link=\w+/.exec(text)?.[0] ?? "";
    expect(boardLink(again)).toBe(boardLink(output));
    const opened = await fetch(`http://127.0.0.1:${port}/api/v1/session/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ link: boardLink(again).split("#link=")[1] }),
    });
    expect([opened.status, await opened.json()]).toMatchObject([200, { organizer: "demo" }]);
    const operations = (text: string) => /http:\/\/\S+\/readyz/.exec(text)?.[0];
    expect(operations(again)).toBe(operations(output));
    expect(operations(again)).toBeDefined();
    const logged = async () => readFile(join(directory, "data", "tessera.log"), "utf8");
    await expect.poll(logged).toContain('"level":"debug"');
    // Another ticket: the first one was used.
    expect(await paste(again, 1)).toMatchObject({ status: "ok" });
    expect(await paste(again, 1)).toMatchObject({ status: "error", reason: "already_redeemed" });
    expect(await paste(again, 2)).toMatchObject({ checkin_count: 2, position_count: 2980, inside_count: 2 });

    const local = ["--data", join(directory, "data")];
    const status = await runCommand(["status", ...local]).ended;
    expect(status).toMatchObject({ code: 0, stderr: "" });
    expect(status.stdout).toContain(`http://localhost:${port}/docs`);
    expect(status.stdout).toMatch(/demo \(API key\) +demo +\S+ +active/);
    expect(status.stdout).toMatch(/demo\/conference +5 +3040 +3983 +4/);
    expect(status.stdout).toContain("No fact waits, and none is parked.");
    const keys = await runCommand(["keys", "list", "--organizer", "demo", ...local]).ended;
    expect(keys).toMatchObject({ code: 0, stdout: expect.stringContaining("every permission") });

    expect(await walkExamples({ url: `http://127.0.0.1:${port}`, operatorKey })).toBeGreaterThan(50);

    // The terminal is closed.
    const all = await findDescendants(second.process.pid ?? 0);
    expect(all.map(({ args }) => args)).toContainEqual(expect.stringContaining(join(directory, "data")));
    second.process.kill("SIGHUP");
    expect((await second.ended).code).toBe(0);
    expect(all.filter(({ pid }) => isRunning(pid))).toEqual([]);
    const secrets = keysIn(again).map((line) => line.trim().split(/\s+/).at(-1) ?? "");
    const log = await readFile(join(directory, "data", "tessera.log"), "utf8");
    for (const secret of secrets) expect(log).not.toContain(secret);
  });

  it("[R1.5, R1.6, R1.7, R1.9] imports a file at the start, uses a fixed operator key, and starts fresh", async () => {
    const port = await getPort({ host: "127.0.0.1" });
    const file = join(directory, "records.ndjson");
    await writeFile(
      file,
      `${JSON.stringify({ kind: "organizer", organizer: "big", data: { slug: "big", name: "Big" } })}\n{"kind": "gate"}\n`,
    );
    const first = serve(port, ["--import", file], { TESSERA_OPERATOR_KEY: fixedKey });
    const output = await first.printed("Ctrl-C stops it.");
    expect(output).toContain("2 records, 1 accepted, 1 rejected");
    expect(output).toContain("line 2 (gate)");
    expect(output).toMatch(/operator key +as set/);
    expect(output).not.toContain(fixedKey);
    expect(output).not.toContain("curl");
    expect(output).toContain(`npm run tessera -- status --data ${join(directory, "data")}\n`);

    const gate = join(directory, "gate.ndjson");
    await writeFile(gate, `${JSON.stringify({ kind: "gate", organizer: "big", data: { id: 1, name: "West" } })}\n`);
    const importing = await runCommand(["import", gate, "--url", `http://127.0.0.1:${port}`], {
      TESSERA_OPERATOR_KEY: fixedKey,
    }).ended;
    expect(importing).toMatchObject({ code: 0, stderr: "" });
    expect(importing.stdout).toContain("1 records, 1 accepted, 0 rejected (1 gate)");
    const refused = await runCommand(["import", gate, "--url", `http://127.0.0.1:${port}`, "--key", "wrong"]).ended;
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^tessera: .+\n$/);
    const early = await Promise.all(
      [[], ["--fresh"]].map(async (args) => serve(await getPort({ host: "127.0.0.1" }), args).ended),
    );
    for (const { code, stderr } of early)
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^tessera: Tessera runs on .+ already.+\n$/)]);
    expect(await readdir(join(directory, "data"))).toEqual(expect.arrayContaining(["running.json", "tessera.log"]));
    first.process.kill("SIGTERM");
    await first.ended;

    const fresh = serve(port, ["--fresh"], { TESSERA_OPERATOR_KEY: fixedKey });
    await fresh.printed("Ctrl-C stops it.");
    const again = await runCommand(["import", gate, "--url", `http://127.0.0.1:${port}`], {
      TESSERA_OPERATOR_KEY: fixedKey,
    }).ended;
    expect(again.stdout).toContain("0 accepted, 1 rejected");
    expect(again.code).toBe(1);
  });

  it("says in one sentence that its port is taken", async () => {
    const port = await getPort({ host: "127.0.0.1" });
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
    expect(await serve(port).ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^tessera: [^\n]+port[^\n]+\n$/),
    });
    await new Promise((resolve) => server.close(resolve));
  });
});
