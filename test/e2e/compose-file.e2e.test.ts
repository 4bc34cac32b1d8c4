import { execFile } from "node:child_process";
import { access, chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { services } from "@tessera/cli/services";
import { helm } from "@tessera/testkit/engines/helm";
import { findOwnPostgres, type OwnPostgres, startOwnPostgres } from "@tessera/testkit/engines/own-postgres";
import getPort from "get-port";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { type RunningCommand, runCommand } from "./command.ts";
import { runCommands, sources } from "./follow-page.ts";
import { commandBlocks, putIn, readPage } from "./read-page.ts";

interface ComposeService {
  readonly build?: { readonly context: string; readonly target: string };
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly healthcheck: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly volumes: readonly string[];
}

const file = join(sources, "docs/compose.yaml");

async function readServices(): Promise<{ tessera: ComposeService; postgres: ComposeService }> {
  return (parse(await readFile(file, "utf8")) as { services: Awaited<ReturnType<typeof readServices>> }).services;
}

/** Puts in variables as compose does: `${NAME:?why it is needed}`. */
function fill(environment: Readonly<Record<string, string>>, variables: Readonly<Record<string, string>>) {
  const filled = (text: string) => text.replaceAll(/\$\{(\w+):\?[^}]*\}/g, (_, name: string) => variables[name] ?? "");
  return Object.fromEntries(Object.entries(environment).map(([name, text]) => [name, filled(text)]));
}

describe("docs/compose.yaml", () => {
  let directory: string;
  let server: OwnPostgres | undefined;
  let platform: RunningCommand | undefined;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "tessera-compose-"));
    await chmod(directory, 0o755);
  });
  afterEach(async () => {
    platform?.process.kill("SIGTERM");
    await platform?.ended;
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it("names what is there: the target of the image, its folders, the profile of the browser, and settings of the page", async () => {
    const { tessera, postgres } = await readServices();
    const dockerfile = await readFile(resolve(dirname(file), tessera.build?.context ?? "", "Dockerfile"), "utf8");
    expect(dockerfile).toMatch(new RegExp(`^FROM scratch AS ${tessera.build?.target}$`, "m"));
    const [data = ""] = tessera.volumes;
    expect(dockerfile).toContain(`--owner=tessera --group=tessera --mode=700 ${data.split(":")[1]}\n`);
    const profile = tessera.security_opt?.find((option) => option.startsWith("seccomp:"))?.slice("seccomp:".length);
    await access(resolve(dirname(file), profile ?? ""));
    expect(tessera.ports?.every((port) => port.startsWith("127.0.0.1:"))).toBe(true);

    // The page makes a file with the variables that have no value without it.
    const steps = commandBlocks(await readPage("one-server.md")).find(({ commands }) =>
      commands.includes("up --build"),
    );
    const making = steps?.commands.split("\n").filter((line) => line.startsWith("echo ")) ?? [];
    await runCommands(making.join("\n"), { cwd: directory });
    const made = (await readFile(join(directory, ".env"), "utf8")).trim().split("\n");
    const needed = [tessera, postgres].flatMap(({ environment }) =>
      Object.values(environment).flatMap((text) => [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name)),
    );
    expect(made.map((line) => line.split("=")[0]).toSorted()).toEqual([...new Set(needed)].toSorted());
    expect(made).toContainEqual(expect.stringMatching(/^TESSERA_OPERATOR_KEY=[0-9a-f]{64}$/));
  });

  it("has a PostgreSQL that admits as many connections as the platform may open", async () => {
    const { postgres } = await readServices();
    const admitted = /^-c max_connections=(\d+)$/.exec(postgres.command?.join(" ") ?? "")?.[1];
    expect(Number(admitted)).toBeGreaterThan(24 * Object.keys(services).length);
  });

  it("starts a platform that is healthy and takes records", async (context) => {
    const programs = findOwnPostgres();
    if (programs === undefined) return context.skip("needs a PostgreSQL: Debian's package postgresql");
    const { tessera, postgres } = await readServices();
    const [port, operations] = [await getPort({ host: "127.0.0.1" }), await getPort({ host: "127.0.0.1" })];
    const baseUrl = `http://127.0.0.1:${port}`;
    const variables = {
      TESSERA_OPERATOR_KEY: "0123456789abcdef".repeat(4),
      POSTGRES_PASSWORD: "0f".repeat(32),
      BASE_URL: baseUrl,
    };

    // As the image of PostgreSQL does with these settings.
    const {
      POSTGRES_USER = "",
      POSTGRES_PASSWORD = "",
      POSTGRES_DB = "",
      POSTGRES_INITDB_ARGS = "",
    } = fill(postgres.environment, variables);
    server = await startOwnPostgres(programs, {
      user: POSTGRES_USER,
      password: POSTGRES_PASSWORD,
      initdb: POSTGRES_INITDB_ARGS.split(" "),
    });
    const own = server.urlOf(POSTGRES_DB);
    const PATH = `${programs}:${process.env["PATH"]}`;
    await runCommands(`createdb --maintenance-db='${server.urlOf("postgres")}' ${POSTGRES_DB}`, {
      cwd: directory,
      environment: { PATH },
    });

    const { DATABASE_URL = "", ...environment } = fill(tessera.environment, variables);
    const data = join(directory, "data");
    const moved = (args: readonly string[] = []) =>
      args.map((text) => text.replace("/var/lib/tessera", data).replace(":9090/", `:${operations}/`));
    const settings = {
      ...environment,
      DATABASE_URL: putIn(DATABASE_URL, { "postgres:5432": new URL(own).host }),
      HTTP_PORT: String(port),
      METRICS_PORT: String(operations),
    };
    expect(settings.DATABASE_URL).toBe(own);
    platform = runCommand(moved(tessera.command), settings);
    await platform.printed("Ctrl-C stops it.");
    const [kind, program, ...args] = moved(tessera.healthcheck.test);
    expect([kind, program]).toEqual(["CMD", "node"]);
    const quoted = args.map((text) => `'${text.replaceAll("'", "'\\''")}'`).join(" ");
    await runCommands(`'${process.execPath}' ${quoted}`, { cwd: directory });
    const records = await readFile(join(sources, "docs/example.ndjson"), "utf8");
    const answer = await fetch(`${baseUrl}/api/v1/import/`, {
      method: "POST",
      headers: {
        authorization: `Token ${variables.TESSERA_OPERATOR_KEY}`,
        "content-type": "application/x-ndjson",
      },
      body: records,
    });
    expect(await answer.json()).toMatchObject({ rejected: 0, settled: true });
    const { DATABASE_URL: url } = settings;
    const status = await runCommand(["status", "--data", data], { DATABASE_URL: url }).ended;
    expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining("example/sampleconf") });
  });

  it("[Y4.4] the chart starts the same as one pod: it is healthy, its doctor is content, and the first steps of its notes work", async (context) => {
    const programs = findOwnPostgres();
    if (programs === undefined) return context.skip("needs a PostgreSQL: Debian's package postgresql");
    const found = helm.find();
    if (!found.available) return context.skip(found.reason);
    const data = join(directory, "data");
    const [port, operations] = [await getPort({ host: "127.0.0.1" }), await getPort({ host: "127.0.0.1" })];
    server = await startOwnPostgres(programs, { user: "tessera", password: "0f".repeat(32), initdb: initdbOfPage });
    await runCommands(`createdb --maintenance-db='${server.urlOf("postgres")}' tessera`, {
      cwd: directory,
      environment: { PATH: `${programs}:${process.env["PATH"]}` },
    });
    const secrets: Readonly<Record<string, string>> = {
      DATABASE_URL: server.urlOf("tessera"),
      TESSERA_OPERATOR_KEY: "0123456789abcdef".repeat(4),
    };
    const here: Readonly<Record<string, string>> = {
      ...{
        HTTP_HOST: "127.0.0.1",
        HTTP_PORT: String(port),
        METRICS_HOST: "127.0.0.1",
        METRICS_PORT: String(operations),
      },
    };
    const { pod, doctor, notes } = await renderOnePod();
    const moved = (args: readonly string[]) =>
      args.map((text) => text.replace("/var/lib/tessera", data).replace("tessera-all:9090", `127.0.0.1:${operations}`));
    const environmentOf = ({ env }: ChartContainer) =>
      Object.fromEntries(env.map(({ name, value }) => [name, secrets[name] ?? here[name] ?? value ?? ""]));
    expect(pod.env.filter(({ value }) => value === undefined).map(({ name }) => name)).toEqual(Object.keys(secrets));

    platform = runCommand(moved(pod.args), environmentOf(pod));
    await platform.printed("Ctrl-C stops it.");
    const answer = await fetch(`http://127.0.0.1:${operations}${pod.readinessProbe.httpGet.path}`);
    expect(answer.status, await answer.text()).toBe(200);

    // As `kubectl exec` would, in the container of the platform.
    const steps = notes.split("\n").flatMap((line) => line.match(/-- node dist\/main\.js (.*)$/)?.[1] ?? []);
    expect(steps).toHaveLength(2);
    const run = (words: string) => runCommand(moved(words.split(" ")), { ...environmentOf(pod) }).ended;
    const [sent = "", made = ""] = steps;
    const imported = await run(sent.replace(" - ", ` ${join(sources, "docs/example.ndjson")} `).replace(/ < .*/, ""));
    expect(imported, imported.stderr).toMatchObject({ code: 0 });
    const key = await run(made);
    expect(key, key.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\w{40,}\n$/) });
    const events = await fetch(`http://127.0.0.1:${port}/api/v1/organizers/example/events/sampleconf/checkinlists/`, {
      headers: { authorization: `Token ${key.stdout.trim()}` },
    });
    expect(events.status).toBe(200);

    // The pod of `helm test` has neither the volume nor the ports.
    const examined = await runCommand(moved(doctor.args), { ...environmentOf(doctor), HTTP_PORT: "8000" }).ended;
    expect(examined, examined.stdout).toMatchObject({ code: 0 });
  });
});

interface ChartContainer {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly readinessProbe: { readonly httpGet: { readonly path: string } };
}

const initdbOfPage = ["--encoding=UTF8", "--lc-collate=C", "--lc-ctype=C.UTF-8"];

/** What the chart installs as one pod. */
async function renderOnePod(): Promise<{ pod: ChartContainer; doctor: ChartContainer; notes: string }> {
  const chart = join(sources, "charts/tessera");
  const how = ["--namespace", "tickets", "--dry-run=client", "--values", join(chart, "ci/one-pod-values.yaml")];
  const { stdout } = await promisify(execFile)(await helm.install(), ["install", "tessera", chart, ...how], {
    env: { ...process.env, HELM_CACHE_HOME: tmpdir(), HELM_CONFIG_HOME: tmpdir(), HELM_DATA_HOME: tmpdir() },
  });
  const [, hooks = "", manifest = "", notes = ""] = stdout.split(/^(?:HOOKS|MANIFEST|NOTES):\n/m);
  const specOf = (text: string, kind: string) =>
    parseAllDocuments(text)
      .map((document) => document.toJS() as { kind?: string; spec?: unknown } | null)
      .find((each) => each?.kind === kind)?.spec;
  const deployment = specOf(manifest, "Deployment") as { template: { spec: { containers: ChartContainer[] } } };
  const test = specOf(hooks, "Pod") as { containers: ChartContainer[] };
  const [pod, doctor] = [deployment.template.spec.containers[0], test.containers[0]];
  if (pod === undefined || doctor === undefined) throw new Error("the chart renders no pod, or no test");
  return { pod, doctor, notes };
}
