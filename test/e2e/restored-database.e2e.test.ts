import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findOwnPostgres, type OwnPostgres, startOwnPostgres } from "@tessera/testkit/engines/own-postgres";
import getPort from "get-port";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type RunningCommand, runCommand } from "./command.ts";
import { commandBlocks, readPage } from "./read-page.ts";

const operatorKey = "operator-key-of-the-restoration-0123456789";
const main = fileURLToPath(import.meta.resolve("@tessera/cli/main"));
const shop = fileURLToPath(new URL("../../docs/example.ndjson", import.meta.url));

let directory: string;
const started: RunningCommand[] = [];
const servers: OwnPostgres[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-restored-"));
  await chmod(directory, 0o755);
});
afterEach(async () => {
  for (const one of started.splice(0)) await stop(one);
  for (const server of servers.splice(0)) await server.stop();
  await rm(directory, { recursive: true, force: true });
});

async function stop(one: RunningCommand | undefined): Promise<void> {
  if (one?.process.exitCode === null && one.process.signalCode === null) one.process.kill("SIGTERM");
  await one?.ended;
}

it("one's own PostgreSQL is backed up, lost and restored as the page says, and a ticket is still admitted only once", async (context) => {
  const programs = findOwnPostgres();
  if (programs === undefined) return context.skip("needs a PostgreSQL with pg_dump: Debian's package postgresql");
  const page = await readPage("one-server.md");
  const [port, operations] = [await getPort({ host: "127.0.0.1" }), await getPort({ host: "127.0.0.1" })];
  const paths = { "/var/lib/tessera": join(directory, "data"), "/backup": join(directory, "backup") };
  await mkdir(paths["/backup"]);
  let server: OwnPostgres | undefined;
  let running: RunningCommand | undefined;
  const settings = () => ({
    TESSERA_OPERATOR_KEY: operatorKey,
    DATABASE_URL: server?.urlOf("tessera") ?? "",
    HTTP_PORT: String(port),
    METRICS_PORT: String(operations),
  });
  const shell = async (script: string) => {
    const own = `set -euo pipefail
tessera() { '${process.execPath}' --conditions=source --disable-warning=ExperimentalWarning '${main}' "$@"; }
exec 2>&1
${script}`;
    const PATH = `${programs}:${process.env["PATH"] ?? ""}`;
    const environment = { ...process.env, PATH, ...settings() };
    const { error, output } = await new Promise<{ error: Error | null; output: string }>((resolve) => {
      execFile("bash", ["-c", own], { env: environment }, (failure, stdout) =>
        resolve({ error: failure, output: stdout }),
      );
    });
    if (error !== null) throw new Error(`${script}: ${output}`);
    return output;
  };
  const startServer = async () => {
    server = await startOwnPostgres(programs);
    servers.push(server);
    await shell(`createdb --maintenance-db='${server.urlOf("postgres")}' --template=template0 --encoding=UTF8 tessera`);
  };
  const startPlatform = async () => {
    running = runCommand(["serve", "all", "--data", paths["/var/lib/tessera"]], settings());
    started.push(running);
    await running.printed("Ctrl-C stops it.");
  };
  /** Runs a block of the page, and returns what it printed. */
  const follow = async (beginning: string) => {
    const block = commandBlocks(page).find(({ commands }) => commands.includes(beginning));
    let printed = "";
    for (const line of block?.commands.trim().split("\n") ?? []) {
      if (line === "systemctl start tessera") await startPlatform();
      else
        printed += await shell(
          Object.entries(paths).reduce((text, [said, meant]) => text.replaceAll(said, meant), line),
        );
    }
    return printed;
  };
  const redeem = async (secret: string) => {
    const route = "organizers/example/events/sampleconf/checkinlists/1/positions";
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${route}/${secret}/redeem/`, {
      method: "POST",
      headers: { authorization: "Device example-device-key-5d41c8a7", "content-type": "application/json" },
      body: "{}",
    });
    const { status, reason } = (await answer.json()) as { status: string; reason?: string };
    return reason ?? status;
  };

  await startServer();
  await startPlatform();
  await shell(`curl --fail --silent --show-error -X POST http://127.0.0.1:${port}/api/v1/import/ \
    -H "Authorization: Token ${operatorKey}" -H 'Content-Type: application/x-ndjson' --data-binary @'${shop}'`);
  expect(await redeem("example-ticket-jo-7k2m9p")).toBe("ok");
  await follow("pg_dump ");

  // The machine is lost, with the roles of its server.
  await stop(running);
  await server?.stop();
  servers.length = 0;
  await rm(paths["/var/lib/tessera"], { recursive: true });
  await startServer();
  expect(await follow("pg_restore ")).toContain("Nothing is wrong");
  expect(await redeem("example-ticket-jo-7k2m9p")).toBe("already_redeemed");
}, 180_000);
