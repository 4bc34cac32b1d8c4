import { join, resolve } from "node:path";
import type { Clock } from "@tessera/kit/clock";
import { type Config, type Environment, readConfig } from "@tessera/kit/config";
import { createLog, type Log } from "@tessera/kit/log";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { requireMigrated } from "@tessera/kit/pg/migrate";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { engineSettings, processSettings } from "../engine-settings.ts";
import { databaseUrlOf } from "../options.ts";
import { loadServices, services } from "../services.ts";
import { findLocalServer, type LocalServer } from "./find-local-server.ts";

export type Service = Awaited<ReturnType<typeof loadServices>>[number];

/** What a person asks the doctor about. */
export interface Question {
  readonly names: readonly string[];
  readonly environment: Environment;
  /** The data folder of a local start. */
  readonly data: string;
  /** Where the platform's clients reach it. */
  readonly url: string | undefined;
  /** Operations ports of running processes. */
  readonly health: readonly string[];
}

/** All that examinations look at. */
export interface Surroundings {
  /** As `tessera serve` would hand it to the services. */
  readonly environment: Environment;
  readonly definitions: readonly Service[];
  /** Whether all services are meant to run in one process, which then brings along what it needs. */
  readonly isWhole: boolean;
  /** How engines are reached. What cannot be read stands as if it were not set. */
  readonly config: Config<typeof engineSettings & typeof processSettings>;
  /** Whether a setting of these names cannot be read: what it is for is then not examined. */
  cannotRead(names: RegExp): boolean;
  readonly database: DatabaseUnderExamination;
  readonly data: string;
  readonly url: string | undefined;
  readonly health: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  close(): Promise<void>;
}

/** The database, looked at by several examinations over few connections. */
export interface DatabaseUnderExamination {
  readonly url: string | undefined;
  /** The embedded server of the data folder, where that is the database. */
  readonly local: LocalServer | undefined;
  /** Why there is none to look at, or that it does not answer; undefined where it does. Asked once. */
  absence(): Promise<{ readonly reason: string; readonly error?: unknown } | undefined>;
  /** As the user of the URL. */
  readonly admin: Db | undefined;
  /** As the role of a service; it opens nothing before it is used. */
  as(service: Service): Db;
  /** What keeps a service from using its schema; asked once. */
  refusal(service: Service): Promise<unknown>;
}

/** A frozen server keeps connections and answers nothing; this is above what a busy one takes. */
const statementMs = 3000;

/** Looks around before anything is examined: it connects to nothing. */
export async function lookAround(question: Question, { clock }: { clock: Clock }): Promise<Surroundings> {
  const definitions = await loadServices(question.names);
  const isWhole = definitions.length === Object.keys(services).length && question.names.includes("all");
  const environment = servedEnvironment(question, { isWhole });
  const log = createLog({ service: "doctor", destination: { write: () => {} } });
  const given = databaseUrlOf(environment);
  const local = given === undefined && isWhole ? await findLocalServer(resolve(question.data)) : undefined;
  const url = given ?? (local?.kind === "running" ? local.url : undefined);
  const opened: Db[] = [];
  const open = (options: { schema: string; role?: string }) => {
    const db = openDatabase({
      url: url ?? "",
      ...options,
      applicationName: "tessera-doctor",
      log,
      maxConnections: 1,
      statementTimeoutMs: statementMs,
    });
    opened.push(db);
    return db;
  };
  return {
    environment,
    definitions,
    isWhole,
    ...readEngines(environment),
    database: underExamination({ url, local, open, log }),
    data: resolve(question.data),
    url: question.url,
    health: question.health,
    clock,
    log,
    async close() {
      await Promise.allSettled(opened.map((db) => db.close()));
    },
  };
}

/** What `serve all` adds to its environment, and what single services do. */
function servedEnvironment(
  { environment, data }: Question,
  { isWhole }: { isWhole: boolean },
): Readonly<Record<string, string | undefined>> {
  if (!isWhole)
    return { ...environment, OPERATOR_KEY: environment["OPERATOR_KEY"] || environment["TESSERA_OPERATOR_KEY"] };
  const port = environment["HTTP_PORT"] || "8000";
  return {
    HTTP_HOST: "127.0.0.1",
    BASE_URL: `http://localhost:${port}`,
    FILES_DIR: join(resolve(data), "files"),
    ...environment,
    HTTP_PORT: port,
    OPERATOR_KEY: environment["TESSERA_OPERATOR_KEY"] || undefined,
  };
}

function readEngines(environment: Environment): Pick<Surroundings, "config" | "cannotRead"> {
  const settings = { ...engineSettings, ...processSettings };
  const unreadable = Object.values(settings)
    .filter(({ name, read }) => environment[name] && read(environment[name]) === undefined)
    .map(({ name }) => name);
  const readable = Object.entries(environment).filter(([name]) => !unreadable.includes(name));
  return {
    config: readConfig(settings, Object.fromEntries(readable)),
    cannotRead: (names) => unreadable.some((name) => names.test(name)),
  };
}

function underExamination({
  url,
  local,
  open,
  log,
}: {
  url: string | undefined;
  local: LocalServer | undefined;
  open(options: { schema: string; role?: string }): Db;
  log: Log;
}): DatabaseUnderExamination {
  const admin = url === undefined ? undefined : open({ schema: "public" });
  const opened = new Map<string, Db>();
  const refusals = new Map<string, Promise<unknown>>();
  let answer: ReturnType<DatabaseUnderExamination["absence"]> | undefined;

  const look = async () => {
    if (admin === undefined) return { reason: local?.reason ?? "DATABASE_URL is not set" };
    try {
      await admin.one(sql`select 1 as alive`);
      return undefined;
    } catch (error) {
      return { reason: "the database does not answer", error };
    }
  };
  return {
    url,
    local,
    admin,
    absence: () => (answer ??= look()),
    as({ schema }) {
      const db = opened.get(schema) ?? open({ schema, role: roleOf(schema) });
      opened.set(schema, db);
      return db;
    },
    refusal({ schema, migrations }) {
      const asked =
        refusals.get(schema) ??
        requireMigrated({ url: url ?? "", schema, role: roleOf(schema), migrations, log }).then(
          () => undefined,
          (error: unknown) => error,
        );
      refusals.set(schema, asked);
      return asked;
    },
  };
}
