import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { verbs } from "../verbs.ts";
import { describeFailure } from "./explain-failure.ts";
import { runVerb } from "./run-verb.ts";

const main = new URL("../main.ts", import.meta.url).pathname;
const nowhere = "postgresql://someone@127.0.0.1:1/none";

const stops = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

let directory: string;
let closed: string;
const before = new Map(stops.map((name) => [name, process.listeners(name)]));
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-sentences-"));
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  closed = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise((resolve) => server.close(resolve));
});
afterEach(() => {
  for (const name of stops)
    for (const listener of process.listeners(name))
      if (before.get(name)?.includes(listener) !== true) process.off(name, listener);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs a line of the command in this process. `DIR` is a folder, `CLOSED` a URL where nothing listens, and `PORT` its port. */
async function fail(line: string, environment: Record<string, string> = {}): Promise<string | undefined> {
  for (const name of ["TESSERA_OPERATOR_KEY", "DATABASE_URL", "BASE_URL"]) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const args = line
    .split(" ")
    .map((word) => word.replace("DIR", directory).replace("CLOSED", closed).replace("PORT", new URL(closed).port));
  return runVerb("tessera", verbs, args).then(() => "it did not fail", describeFailure);
}

const operator = { TESSERA_OPERATOR_KEY: "operator-key-of-the-tests-0123456789" };
const brokers = { BUS: "kafka", KAFKA_BROKERS: "127.0.0.1:1" };

describe("every verb says in one sentence what is wrong and what to do", () => {
  it.each<[line: string, sentence: RegExp, environment?: Record<string, string>]>([
    [
      `serve all --port PORT --data DIR/a --database-url ${nowhere}`,
      /127\.0\.0\.1:1\/none cannot be used: nothing listens there.*; start it/,
    ],
    ["serve all --data DIR/a --database-url foo", /no address of PostgreSQL; .*postgresql:\/\//],
    [
      `serve all --port PORT --data DIR/a --database-url ${nowhere} --log-file DIR/none/x`,
      /none\/x cannot be written: there is no such/,
    ],
    [
      "serve all --port PORT --data /proc/tessera",
      /the data folder \/proc\/tessera cannot be written: .*; choose another/,
    ],
    ["serve all --data ", /'--data' has an empty value; `tessera serve all --help`/],
    ["serve all --data DIR/a --import DIR/none", /none cannot be read: there is no such file/],
    ["serve all --data DIR/a --import DIR", /is a folder; name a file/],
    [
      "serve all --data DIR/a",
      /OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as http:\/\/collector/,
      { OTEL_EXPORTER_OTLP_ENDPOINT: "foo" },
    ],
    [
      "serve all --data DIR/a",
      /BASE_URL must be a URL such as https:\/\/tickets\.example/,
      { BASE_URL: "tickets.example" },
    ],
    ["serve all --data DIR/a --prot 1", /--prot/],
    ["serve all --data DIR/a --port 0", /--port takes a whole number from 1 to 65535/],
    ["serve foo", /there is no service foo; the services are boxoffice/],
    ["serve all 8001", /there is no service 8001/],
    [`migrate all --database-url ${nowhere}`, /127\.0\.0\.1:1\/none cannot be used: nothing listens there/],
    ["migrate all --database-url foo", /no address of PostgreSQL/],
    ["migrate foo", /there is no service foo/],
    [`topics parked --database-url ${nowhere}`, /cannot be used: nothing listens there/],
    [`topics replay --database-url ${nowhere}`, /cannot be used: nothing listens there/],
    [`topics rebuild --all --database-url ${nowhere}`, /cannot be used: nothing listens there/],
    ["topics parked --data DIR/none", /set DATABASE_URL, pass --database-url, or name the data folder/],
    ["topics rebuild nonsense", /there is no topic nonsense/],
    ["topics rebuild", /name the topics to rebuild, or pass --all/],
    ["topics parked --service nonsense", /there is no service nonsense/],
    ["topics replay --id 1", /--id requires --service/],
    ["topics replay --service checkin --id 1;drop", /--id takes whole numbers/],
    ["topics discard --service checkin", /name what to delete with --service and --id/],
    ["topics replay --wait long", /--wait takes whole seconds/],
    ["topics explode", /there is no verb topics explode/],
    ["topics apply", /at 127\.0\.0\.1:1/, brokers],
    [`import DIR/none --url CLOSED`, /none cannot be read: there is no such file.*; correct its path/, operator],
    [`import DIR --url CLOSED`, /is a folder; name a file/, operator],
    [`import ${main} --url CLOSED`, /cannot be reached: nothing listens there.*; start it, or pass --url/, operator],
    [`import ${main} --url foo`, /foo is no URL; pass --url as/, operator],
    [`import ${main} --key-file DIR`, /cannot be read: it is a folder/],
    [
      `import --from-pretix CLOSED --token x --organizer a --state DIR/x.json`,
      /at http:\/\/127\.0\.0\.1:.*nothing listens there.*; check the address/,
      operator,
    ],
    [`keys list --organizer a --url CLOSED`, /cannot be reached: nothing listens there/, operator],
    ["keys list --organizer a --url foo", /foo is no URL/, operator],
    [`devices list --organizer a --url CLOSED`, /cannot be reached: nothing listens there/, operator],
    ["simulate --gates many", /--gates takes a whole number from 1 to 2000/],
    ["simulate --gates 1.5", /--gates takes a whole number from 1 to 2000/],
    ["simulate --minutes 1 --outage 31", /--outage takes at most half of the time of --minutes/],
    [`simulate --url CLOSED`, /cannot be reached: nothing listens there/, operator],
  ])("%s", async (line, sentence, environment) => {
    const said = await fail(line, environment);
    expect(said).toMatch(sentence);
    expect(said).not.toContain("\n");
  });
});

describe("wrong settings", () => {
  it("are told all at once, before anything starts", async () => {
    const { code, stderr } = await promisify(execFile)(
      process.execPath,
      ["--conditions=source", main, "serve", "all", "--data", join(directory, "b")],
      {
        env: {
          PATH: process.env["PATH"],
          NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
          METRICS_PORT: "x",
          LOG_LEVEL: "y",
          BUS: "kafka",
        },
      },
    ).then(
      () => ({ code: 0, stderr: "" }),
      (error: unknown) => error as { code: number; stderr: string },
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `tessera: configuration:
  LOG_LEVEL must be error, warn, info or debug
  METRICS_PORT takes a whole number from 0 to 65535
  KAFKA_BROKERS is required with BUS=kafka
`,
    });
  });
});
