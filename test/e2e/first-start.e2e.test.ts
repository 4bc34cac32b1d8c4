import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readPdf } from "@tessera/testkit/read-pdf";
import getPort from "get-port";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommands, sources } from "./follow-page.ts";
import { commandBlocks } from "./read-page.ts";
import { type NpmCommand, runNpm } from "./run-npm.ts";

let directory: string;
let started: NpmCommand | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-first-"));
  await chmod(directory, 0o755);
});
afterEach(async () => {
  await started?.end();
  await rm(directory, { recursive: true, force: true });
});

const readme = () => readFile(join(sources, "README.md"), "utf8");

describe("README.md, followed by a curious developer", () => {
  it("starts with npm, answers the printed lines, shows its status, and leaves nothing at Ctrl-C", async () => {
    const [run] = commandBlocks(await readme());
    const [start = ""] = /^npm start\b/.exec(run?.commands ?? "") ?? [];
    const port = await getPort({ host: "127.0.0.1" });
    const data = join(directory, "data");
    started = runNpm(start, ["--port", String(port), "--data", data]);
    const output = await started.printed("Ctrl-C stops it.");

    // What it prints, pasted as a whole.
    const lines = output.split("\n").filter((line) => /^ +(?:[A-Z]+=|curl )/.test(line));
    const pasted = lines.map((line) => `${line.trim()}${/curl /.test(line) ? "\necho" : ""}`).join("\n");
    const answers = (await runCommands(pasted, { cwd: directory }))
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(answers).toMatchObject([{ count: expect.any(Number) }, { status: "ok" }, { checkin_count: 1 }]);
    const { pages } = await readPdf(await readFile(join(directory, "ticket.pdf")));
    const texts = pages.flatMap((page) => page.texts.map(({ text }) => text));
    expect(texts).toEqual(expect.arrayContaining(["Demo Conference", "May 12 – 14, 2027", "Conference ticket"]));
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
    for (const verb of ["import", "keys", "devices", "topics", "doctor", "simulate"])
      expect(shown).toMatch(new RegExp(`^ +${verb} `, "m"));

    const all = await started.processes();
    expect(all.map(({ args }) => args)).toContainEqual(expect.stringContaining(` -D ${data}`));
    expect(await started.interrupt("SIGINT")).toEqual([]);
  });

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
  });
});
