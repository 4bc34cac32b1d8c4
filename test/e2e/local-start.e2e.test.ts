import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { readPdf } from "@tessera/testkit/read-pdf";
import getPort from "get-port";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningCommand, runCommand } from "./command.ts";

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

  /** Runs one of the printed lines as a shell would. */
  async function runLine(output: string, index: number): Promise<string> {
    const line = output.split("\n").filter((text) => text.trim().startsWith("curl "))[index];
    if (line === undefined) throw new Error(`no curl line ${index} in ${output}`);
    const { stdout } = await run("sh", ["-c", `${line.trim()} --silent --show-error --max-time 20`], {
      cwd: directory,
    });
    return stdout;
  }

  /** Runs one of the printed lines that answer JSON. */
  async function paste(output: string, index: number): Promise<Record<string, unknown>> {
    return JSON.parse(await runLine(output, index)) as Record<string, unknown>;
  }

  it("[R1.5] loads the demo, and its curl lines survive kill -9 and a restart", async () => {
    const port = await getPort({ host: "127.0.0.1" });
    const first = serve(port, ["--demo"]);
    const output = await first.printed("Ctrl-C stops it.");
    expect(await paste(output, 2)).toMatchObject({ checkin_count: 0, position_count: 2980 });
    expect(((await paste(output, 0)) as { count: number }).count).toBeGreaterThan(0);
    expect(await paste(output, 1)).toMatchObject({ status: "ok" });
    expect(await paste(output, 1)).toMatchObject({ status: "error", reason: "already_redeemed" });
    expect(await paste(output, 2)).toMatchObject({ checkin_count: 1, inside_count: 1 });
    await runLine(output, 3);
    const { pages } = await readPdf(await readFile(join(directory, "ticket.pdf")));
    const texts = pages.flatMap((page) => page.texts.map(({ text }) => text));
    expect(texts).toEqual(expect.arrayContaining(["Demo Conference", "May 12 – 14, 2027", "Conference ticket"]));

    first.process.kill("SIGKILL");
    await first.ended;

    const second = serve(port, ["--demo"]);
    const again = await second.printed("Ctrl-C stops it.");
    const keys = (text: string) => text.split("\n").filter((line) => / key /.test(line));
    expect(keys(again)).toEqual(keys(output));
    expect(keys(again)).toHaveLength(3);
    expect(await paste(again, 1)).toMatchObject({ status: "error", reason: "already_redeemed" });
    expect(await paste(again, 2)).toMatchObject({ checkin_count: 1, position_count: 2980, inside_count: 1 });

    second.process.kill("SIGINT");
    expect(await second.ended).toMatchObject({ code: 0, stderr: "" });
    const secrets = keys(again).map((line) => line.trim().split(/\s+/).at(-1) ?? "");
    const log = await readFile(join(directory, "data", "tessera.log"), "utf8");
    for (const secret of secrets) expect(log).not.toContain(secret);
  }, 120_000);

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
    first.process.kill("SIGTERM");
    await first.ended;

    const second = serve(port, ["--fresh"], { TESSERA_OPERATOR_KEY: fixedKey });
    await second.printed("Ctrl-C stops it.");
    const again = await runCommand(["import", gate, "--url", `http://127.0.0.1:${port}`], {
      TESSERA_OPERATOR_KEY: fixedKey,
    }).ended;
    expect(again.stdout).toContain("0 accepted, 1 rejected");
    expect(again.code).toBe(1);
  }, 120_000);

  it.each([
    [
      "a busy port",
      async (port: number) => {
        const server = createServer();
        await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
        return { command: serve(port), undo: () => new Promise((resolve) => server.close(resolve)) };
      },
      /port/,
    ],
    [
      "a data folder in use",
      async (port: number) => {
        const holder = serve(await getPort({ host: "127.0.0.1" }));
        await holder.printed("Ctrl-C stops it.");
        return { command: serve(port), undo: async () => {} };
      },
      /in use/,
    ],
    [
      "a folder that cannot be written",
      async (port: number) => {
        await writeFile(join(directory, "file"), "");
        return {
          command: runCommand(["serve", "all", "--port", String(port), "--data", join(directory, "file", "data")]),
          undo: async () => {},
        };
      },
      /cannot be written/,
    ],
    [
      "a database that is not there",
      async (port: number) => ({
        command: serve(port, ["--database-url", "postgresql://nobody@127.0.0.1:1/none"]),
        undo: async () => {},
      }),
      /database/,
    ],
    [
      "an option that does not exist",
      async (port: number) => ({ command: serve(port, ["--prot", "1"]), undo: async () => {} }),
      /--prot/,
    ],
    ["a port that is none", async () => ({ command: serve(0), undo: async () => {} }), /--port/],
  ])(
    "says in one sentence what to do about %s",
    async (_name, provoke, sentence) => {
      const { command, undo } = await provoke(await getPort({ host: "127.0.0.1" }));
      const { code, stderr } = await command.ended;
      await undo();
      expect(code).toBe(1);
      expect(stderr).toMatch(/^tessera: [^\n]+\n$/);
      expect(stderr).toMatch(sentence);
    },
    60_000,
  );
});
