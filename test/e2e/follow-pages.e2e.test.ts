import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import getPort from "get-port";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningCommand, runCommand } from "./command.ts";
import { commandBlocks, putIn, readPage, shows } from "./read-page.ts";

const run = promisify(execFile);
const operatorKey = "operator-key-of-the-pages-0123456789";
const main = fileURLToPath(import.meta.resolve("@tessera/cli/main"));

let directory: string;
const started: RunningCommand[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-pages-"));
  // As root the database has an account of its own, which must get to the folder.
  await chmod(directory, 0o755);
});
afterEach(async () => {
  for (const one of started.splice(0)) await stop(one);
  await rm(directory, { recursive: true, force: true });
});

async function start(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<RunningCommand> {
  const one = runCommand(args, environment);
  started.push(one);
  await one.printed("Ctrl-C stops it.");
  return one;
}

async function stop(one: RunningCommand): Promise<void> {
  if (one.process.exitCode === null && one.process.signalCode === null) one.process.kill("SIGTERM");
  await one.ended;
}

/** A shell in which the commands of a page find the command of these sources. */
function shell(script: string, environment: Readonly<Record<string, string>> = {}): Promise<{ stdout: string }> {
  const own = `set -euo pipefail
exec 2>&1
curl() { command curl --silent --show-error --max-time 30 "$@"; }
`;
  return run("bash", ["-c", `${own}${script}`], { cwd: directory, env: { ...process.env, ...environment } });
}

const tessera = `tessera() { '${process.execPath}' --conditions=source --disable-warning=ExperimentalWarning '${main}' "$@"; }`;

describe("the pages of docs/, followed as they are written", () => {
  it("leads from the shop to the gate and back", async () => {
    const page = await readPage("shop-to-gate.md");
    const port = await getPort({ host: "127.0.0.1" });
    const baseUrl = `http://127.0.0.1:${port}`;
    const [first, ...blocks] = commandBlocks(page);
    expect(first?.commands.trim()).toBe("npm start -- --no-demo");
    await start(["serve", "all", "--port", String(port), "--data", join(directory, "data")], {
      TESSERA_OPERATOR_KEY: operatorKey,
      BASE_URL: baseUrl,
    });
    const script = putIn(blocks.map(({ commands }, index) => `${commands}\necho "@@${index}@@"`).join("\n"), {
      'tessera() { npm run --silent tessera -- "$@"; }': tessera,
      "BASE_URL=http://localhost:8000": `BASE_URL=${baseUrl}`,
      "TESSERA_OPERATOR_KEY=…": `TESSERA_OPERATOR_KEY=${operatorKey}`,
    });
    const { stdout } = await shell(script);
    const outputs = stdout.split(/@@\d+@@\n/);
    const told = blocks.map(({ commands, printed }, index) => ({ commands, printed, output: outputs[index] ?? "" }));
    const different = told.filter(({ printed, output }) => printed !== undefined && !shows(output, printed));
    expect(different).toEqual([]);
    expect(told.filter(({ printed }) => printed !== undefined).length).toBeGreaterThan(6);
  }, 120_000);

  it("runs on one server by its unit file, is backed up and restored", async () => {
    const page = await readPage("one-server.md");
    const unit = await readFile(fileURLToPath(new URL("../../docs/tessera.service", import.meta.url)), "utf8");
    const [port, operations] = [await getPort({ host: "127.0.0.1" }), await getPort({ host: "127.0.0.1" })];
    const paths = { "/var/lib/tessera": join(directory, "data"), "/backup": join(directory, "backup") };

    // What the unit starts, from its sources.
    const [, options = "", serve = ""] = /^ExecStart=\S+ (.*) packages\/cli\/dist\/main\.js (.*)$/m.exec(unit) ?? [];
    expect(options.split(" ").length).toBeGreaterThan(1);
    const settings = /(?:^ {4}[A-Z_]+=.*\n)+/m.exec(page)?.[0] ?? "";
    const environment = Object.fromEntries(
      putIn(settings, {
        "…       # openssl rand -hex 32": operatorKey,
        "https://tickets.example.org": `http://127.0.0.1:${port}`,
        "8000": String(port),
        "9090": String(operations),
      })
        .trim()
        .split("\n")
        .map((line) => line.trim().split(/=(.*)/s, 2) as [string, string]),
    );
    expect(Object.keys(environment)).toEqual(["TESSERA_OPERATOR_KEY", "BASE_URL", "HTTP_PORT", "METRICS_PORT"]);
    const startUnit = () =>
      start(putIn(serve, { "/var/lib/tessera": paths["/var/lib/tessera"] }).split(" "), environment);

    let running = await startUnit();
    const ready = putIn("curl http://127.0.0.1:9090/readyz", { "9090": String(operations) });
    expect(page).toContain("curl http://127.0.0.1:9090/readyz");
    expect((await shell(`${ready} --output /dev/null --write-out '%{http_code}'`)).stdout).toBe("200");
    await shell(`curl -X POST http://127.0.0.1:${port}/api/v1/import/ -H 'Authorization: Token ${operatorKey}' \
      -H 'Content-Type: application/x-ndjson' \
      --data-binary '{"kind": "organizer", "organizer": "kept", "data": {"slug": "kept", "name": "Kept"}}'`);
    const backup = commandBlocks(page).find(({ commands }) => commands.includes("cp -a /var/lib/tessera"));
    await mkdir(paths["/backup"]);
    for (const line of backup?.commands.trim().split("\n") ?? []) {
      if (line === "systemctl stop tessera") await stop(running);
      else if (line === "systemctl start tessera") running = await startUnit();
      else await shell(putIn(line, paths));
    }
    const keys = async (verb: string) => {
      const script = `${tessera}\ntessera keys ${verb} --organizer kept --url http://127.0.0.1:${port}`;
      return (await shell(script, { TESSERA_OPERATOR_KEY: operatorKey })).stdout;
    };
    await keys("create --name later --all-events --permissions '*'");
    expect(await keys("list")).toContain("later");

    // The machine is lost; the folder is put back.
    await stop(running);
    await rm(paths["/var/lib/tessera"], { recursive: true });
    await shell(putIn("cp -a /backup/tessera-1 /var/lib/tessera", paths));
    running = await startUnit();
    // The organizer is there. The key came after the backup.
    expect(await keys("list")).not.toContain("later");
  }, 180_000);
});
