import { readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { give, run, runsAsRoot, unprivileged } from "@tessera/embedded-postgres/account";
import { readServerFile } from "@tessera/embedded-postgres/server-process";
import getPort from "get-port";
import { findProgram, isExecutable, startProcess } from "./engine-process.ts";

const needed = ["initdb", "postgres", "pg_dump", "pg_dumpall", "pg_restore", "psql", "createdb"];
const debian = "/usr/lib/postgresql";

/** A server with a superuser that has a password, as organizers run one of their own. */
export interface OwnPostgres {
  /** The address of one of its databases. */
  urlOf(database: string): string;
  stop(): Promise<void>;
}

/** Finds a folder with a server and the clients of its version: on the PATH, else the newest of Debian. */
export function findOwnPostgres(): string | undefined {
  const dumps = findProgram("pg_dump");
  const folders = [...(dumps === undefined ? [] : [dirname(dumps)]), ...versionsOfDebian()];
  return folders.find((folder) => needed.every((program) => isExecutable(join(folder, program))));
}

function versionsOfDebian(): readonly string[] {
  try {
    const versions = readdirSync(debian).filter((version) => Number(version) >= 15);
    return versions
      .toSorted((one, other) => Number(other) - Number(one))
      .map((version) => join(debian, version, "bin"));
  } catch {
    return [];
  }
}

/** Starts an empty server with the programs of a folder, and its superuser. */
export async function startOwnPostgres(
  programs: string,
  {
    user = "postgres",
    password = "of-the-administrator",
    initdb = ["--encoding=UTF8", "--locale=C.UTF-8"],
  }: { readonly user?: string; readonly password?: string; readonly initdb?: readonly string[] } = {},
): Promise<OwnPostgres> {
  const account = runsAsRoot() ? unprivileged : undefined;
  const directory = await mkdtemp(join(tmpdir(), "tessera-postgres-own-"));
  await chmod(directory, 0o755);
  const [data, passwordFile] = [join(directory, "data"), join(directory, "password")];
  await writeFile(passwordFile, `${password}\n`);
  await mkdir(data, { mode: 0o700 });
  await give(data, account);
  const { code, output } = await run(join(programs, "initdb"), account, [
    `--pgdata=${data}`,
    `--username=${user}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    ...initdb,
    "--no-sync",
  ]);
  if (code !== 0) throw new Error(`initdb does not work: ${output}`);
  const port = await getPort({ host: "127.0.0.1" });
  const settings = [
    ...["listen_addresses=127.0.0.1", `port=${port}`, "unix_socket_directories=", "fsync=off"],
    // As the pages advise: 24 for each service, and some for the doctor.
    "max_connections=200",
  ];
  const server = await startProcess({
    program: join(programs, "postgres"),
    args: ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
    cwd: "/",
    env: { LC_ALL: "C", TZ: "UTC" },
    account,
    isReady: async () => (await readServerFile(data))?.status === "ready",
    scratch: directory,
  });
  return {
    urlOf: (database) => `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`,
    async stop() {
      await server.end("SIGTERM");
      await rm(directory, { recursive: true, force: true });
    },
  };
}
