import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import getPort from "get-port";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type RunningCommand, runCommand } from "./command.ts";

interface Report {
  readonly status: string;
  readonly findings: readonly { readonly area: string; readonly level: string; readonly what: string }[];
}

let directory: string;
const started: RunningCommand[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-doctor-"));
  await chmod(directory, 0o755);
});
afterEach(async () => {
  for (const command of started.splice(0)) {
    if (command.process.exitCode === null && command.process.signalCode === null) command.process.kill("SIGTERM");
    await command.ended;
  }
  await rm(directory, { recursive: true, force: true });
});

it("the doctor examines a local start without disturbing it, and its exit status says whether something is wrong", async () => {
  const port = await getPort({ host: "127.0.0.1" });
  const data = join(directory, "data");
  const environment = { HTTP_PORT: String(port), METRICS_PORT: String(await getPort({ host: "127.0.0.1" })) };
  const examine = async (args: readonly string[] = [], settings: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await runCommand(["doctor", "--data", data, "--json", ...args], {
      ...environment,
      ...settings,
    }).ended;
    expect(stderr).toBe("");
    return { code, ...(JSON.parse(stdout) as Report) };
  };
  const sayings = ({ findings }: Report) => findings.map(({ area, level, what }) => `${area} ${level} ${what}`);

  const platform = runCommand(["serve", "all", "--data", data], environment);
  started.push(platform);
  const key = /operator key\s+(\S+)/.exec(await platform.printed("Ctrl-C stops it."))?.[1] ?? "";
  const running = await examine();
  expect(running.findings.filter(({ level }) => level === "wrong" || level === "skipped")).toEqual([]);
  expect(running).toMatchObject({ code: 0, status: "ok" });
  expect(sayings(running)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^database ok PostgreSQL 1\d\.\d+ of the data folder \(process \d+\) answers$/),
      "schemas ok the schema of checkin is up to date",
      expect.stringMatching(
        /^facts ok boxoffice has no late facts and no parked facts; its processes hold \d+ connections$/,
      ),
      `processes ok the process at 127.0.0.1:${environment.METRICS_PORT} is ready`,
    ]),
  );
  expect(JSON.stringify(running)).not.toContain(key);
  expect((await fetch(`http://127.0.0.1:${environment.METRICS_PORT}/readyz`)).status).toBe(200);

  platform.process.kill("SIGTERM");
  expect(await platform.ended).toMatchObject({ code: 0, stderr: "" });
  const other = createServer((_request, response) => response.end("another server"));
  await new Promise<void>((resolve) => void other.listen(Number(environment.METRICS_PORT), "127.0.0.1", resolve));
  const ended = await examine([], { REDEEM_BATCHES: "many" });
  other.closeAllConnections();
  await new Promise((resolve) => other.close(resolve));
  expect(ended).toMatchObject({ code: 1, status: "wrong" });
  expect(sayings(ended)).toEqual(
    expect.arrayContaining([
      "configuration wrong REDEEM_BATCHES must be a whole number from 1 to 16",
      "database skipped the database",
      `processes wrong 127.0.0.1:${environment.METRICS_PORT} is no operations port of Tessera`,
    ]),
  );

  const wrongly = await runCommand(["doctor", "doorman"]).ended;
  expect(wrongly).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^tessera: .+\n$/) });
});
