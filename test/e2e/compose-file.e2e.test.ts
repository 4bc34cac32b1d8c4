import { access, chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { services } from "@tessera/cli/services";
import { findOwnPostgres, type OwnPostgres, startOwnPostgres } from "@tessera/testkit/engines/own-postgres";
import getPort from "get-port";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
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
});
