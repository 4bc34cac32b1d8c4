import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning } from "@tessera/kit/running-process";
import { readPdf } from "@tessera/testkit/read-pdf";
import getPort from "get-port";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FoundProcess, findDescendants } from "./find-processes.ts";
import { runCommands, sources } from "./follow-page.ts";
import { commandBlocks } from "./read-page.ts";

let directory: string;
let started: ChildProcess | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-first-"));
  await chmod(directory, 0o755);
});
afterEach(async () => {
  if (started?.pid !== undefined && started.exitCode === null && started.signalCode === null)
    process.kill(-started.pid, "SIGTERM");
  await rm(directory, { recursive: true, force: true });
});

const readme = () => readFile(join(sources, "README.md"), "utf8");

/** What the runner of the tests has set is not for a person's terminal. */
function ownEnvironment(): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME };
}

/** Runs an npm command of the README as the leader of a group, which Ctrl-C in a terminal reaches as a whole. */
function runNpm(command: string, options: readonly string[]) {
  const [npm = "", ...args] = command.split(/\s+/);
  const child = spawn(npm, [...args, "--", ...options], {
    cwd: sources,
    env: ownEnvironment(),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  started = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const printed = async (text: string) => {
    await expect
      .poll(() => (child.exitCode === null ? output.includes(text) : `it ended: ${output}`), { timeout: 240_000 })
      .toBe(true);
    return output;
  };
  return { child, ended, printed };
}

/** The processes of a command that still run. */
function left(processes: readonly FoundProcess[]): readonly string[] {
  return processes.filter(({ pid }) => isRunning(pid)).map(({ args }) => args);
}

describe("README.md, followed by a curious developer", () => {
  it("starts with npm, answers the printed lines, shows its status, and leaves nothing at Ctrl-C", async () => {
    const [run] = commandBlocks(await readme());
    const [start = ""] = /^npm start\b/.exec(run?.commands ?? "") ?? [];
    const port = await getPort({ host: "127.0.0.1" });
    const data = join(directory, "data");
    const npm = runNpm(start, ["--port", String(port), "--data", data]);
    const output = await npm.printed("Ctrl-C stops it.");

    // What it prints, pasted as a whole.
    const lines = output.split("\n").filter((line) => /^ +(?:[A-Z]+=|curl )/.test(line));
    const pasted = lines.map((line) => `${line.trim()}${/curl /.test(line) ? "\necho" : ""}`).join("\n");
    const answers = (await runCommands(pasted, { cwd: directory }))
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(answers).toMatchObject([{ count: expect.any(Number) }, { status: "ok" }, { checkin_count: 1 }]);
    const { pages } = await readPdf(await readFile(join(directory, "ticket.pdf")));
    expect(pages.flatMap((page) => page.texts.map(({ text }) => text))).toContain("Demo Conference");
    const answered = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    for (const [, path = ""] of (await readme()).matchAll(/`(?:http:\/\/localhost:8000)?(\/[\w/.]+)`/g))
      expect([path, await answered(path)]).toEqual([path, 200]);

    // The other commands of the page, as they are written; each ends by itself.
    const commands = [...(await readme()).matchAll(/`(npm run tessera -- (?:status|help))`/g)].map(
      ([, text = ""]) => text,
    );
    expect(commands).toHaveLength(2);
    const own = commands.map((text) => (text.endsWith("status") ? `${text} --data ${data}` : text));
    const shown = await runCommands(own.join("\n"), { cwd: sources });
    expect(shown).toMatch(/all +ready +http:\/\/localhost:\d+\/readyz/);
    expect(shown).toContain("demo/conference");
    for (const verb of ["import", "keys", "devices", "voucher", "topics", "doctor", "simulate"])
      expect(shown).toMatch(new RegExp(`tessera ${verb}\\b`));

    const all = await findDescendants(npm.child.pid ?? 0);
    expect(all.map(({ args }) => args)).toContainEqual(expect.stringContaining(` -D ${data}`));
    // A terminal signals all processes in it, and npm passes that on: the platform gets two.
    process.kill(-(npm.child.pid ?? 0), "SIGINT");
    await npm.ended;
    expect(left(all)).toEqual([]);
  }, 400_000);

  it("names every benchmark, and commands that exist", async () => {
    const text = await readme();
    const [, named = ""] = /`npm run bench -- NAME` measures: ([^.]+)\./.exec(text) ?? [];
    const usage = await runCommands("npm run --silent bench -- --help", { cwd: sources });
    const [, known = ""] = /NAME: ([^.]+)\./.exec(usage) ?? [];
    expect(named.split(/,\s*/).toSorted()).toEqual(known.split(/,\s*/).toSorted());
    const { scripts } = JSON.parse(await readFile(join(sources, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    for (const [, name = ""] of text.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(name);
    expect(await runCommands("npm start -- --help", { cwd: sources })).toContain("--no-demo");
    expect(await runCommands("npm run --silent cluster -- --help", { cwd: sources })).toContain("--port");
  }, 120_000);
});
