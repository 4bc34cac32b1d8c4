import { join, resolve } from "node:path";
import type { Clock } from "@tessera/kit/clock";
import { type Environment, readConfig } from "@tessera/kit/config/config";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { requireMigrated } from "@tessera/kit/pg/migrate";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { Skip } from "@tessera/kit/service/finding";
import { createLog, type Log } from "@tessera/kit/telemetry/log";
import { databaseUrlOf, isDatabaseUrl } from "../command/options.ts";
import { readOperationsPort } from "../local/local-data.ts";
import { databaseElsewhere, findLocalServer } from "../local/local-database.ts";
import { findNotedPlatform } from "../local/local-platform.ts";
import { loadServices, services } from "../services.ts";
import { engineSettings, processSettings } from "./engine-settings.ts";
import { environmentOfAll, environmentOfPod } from "./served-environment.ts";

export type Service = Awaited<ReturnType<typeof loadServices>>[number];

/** What the doctor is asked to examine. */
export interface Question {
  readonly names: readonly string[];
  readonly environment: Environment;
  /** The data folder of a local start. */
  readonly data: string;
  /** Operations ports of running processes. */
  readonly health: readonly string[];
  /** Whether the data folder was named by the caller, who then means a platform that runs on it. */
  readonly isDataNamed?: boolean;
}

/** What examinations use. */
export type Surroundings = Awaited<ReturnType<typeof lookAround>>;

/** Reads the settings as `tessera serve` does, but refuses none, and finds the database. */
export async function lookAround(
  { names, environment: given, data, health, isDataNamed = false }: Question,
  { clock }: { clock: Clock },
) {
  const definitions = await loadServices(names);
  const isWhole = definitions.length === Object.keys(services).length && names.includes("all");
  const directory = resolve(data);
  const environment: Environment = isWhole
    ? environmentOfAll(given, {
        port: given["HTTP_PORT"] || "8000",
        files: join(directory, "files"),
        operatorKey: given["TESSERA_OPERATOR_KEY"] || undefined,
      })
    : environmentOfPod(given);
  const log = createLog({ service: "doctor", destination: { write: () => {} } });
  const namedUrl = databaseUrlOf(environment);
  const databaseUrl = namedUrl !== undefined && isDatabaseUrl(namedUrl) ? namedUrl : undefined;
  const local = namedUrl === undefined && isWhole ? await findLocalServer(directory) : undefined;
  let unreadableFolder: Error | undefined;
  const noted = isWhole
    ? await findNotedPlatform(directory).catch((error: Error) => {
        unreadableFolder = error;
        return undefined;
      })
    : undefined;
  const url = databaseUrl ?? (local?.kind === "running" ? local.url : undefined);
  const unreadable = namedUrl === undefined ? undefined : "DATABASE_URL cannot be read";
  const reason =
    unreadable ?? (local?.kind === "absent" && noted?.isRunning ? databaseElsewhere(directory) : local?.reason);
  const processes = noted?.isRunning ? noted.platform.processes : [];
  const isExpected = (isWhole && isDataNamed) || Number(given["METRICS_PORT"] || 0) > 0;
  return {
    directory,
    isDataNamed,
    /** The environment that `tessera serve` gives to services. */
    environment,
    /** The environment of this process, without defaults. */
    given,
    definitions,
    /** Whether all services run in one process, which then provides database and operator key. */
    isWhole,
    ...readEngines(environment),
    database: { ...openForExamination({ url, reason, log }), url, local },
    // The note of a platform of several local processes names them all.
    health:
      health.length > 0 || processes.length < 2
        ? health
        : processes.map(({ operationsPort }) => `http://localhost:${operationsPort}`),
    /** Whether a process has to run here. Else silence is no fault: nothing may have been started yet. */
    isExpected,
    /** The port of REST that a start would take; undefined: the caller has named none, and starts nothing here. */
    restPort: isWhole && (isExpected || given["HTTP_PORT"]) ? Number(environment["HTTP_PORT"]) : undefined,
    /** The local platform of the data folder, running or killed. */
    noted,
    /** Why it cannot be known what runs on the data folder. */
    unreadableFolder,
    /** The file folder that a running platform of this data folder has created first. */
    madeFiles: noted?.isRunning ? join(directory, "files") : undefined,
    /** The operations port of the last local start. */
    keptOperationsPort: isWhole ? await readOperationsPort(directory) : undefined,
    clock,
    log,
  };
}

/** Reads the settings of engines. An unreadable setting has its default, and is listed as unreadable. */
function readEngines(environment: Environment) {
  const settings = { ...engineSettings, ...processSettings };
  const unreadable = Object.values(settings)
    .filter(({ name, read }) => environment[name] && read(environment[name]) === undefined)
    .map(({ name }) => name);
  const readable = Object.entries(environment).filter(([name]) => !unreadable.includes(name));
  return { config: readConfig(settings, Object.fromEntries(readable)), unreadable };
}

/** The database, or why it has no address. Examinations share its connections and cached answers. */
function openForExamination(target: { url: string | undefined; reason: string | undefined; log: Log }) {
  const { url, reason, log } = target;
  const opened: Db[] = [];
  // Most queries are short; a locked table is a finding, too.
  const open = (options: { schema: string; role?: string }, { statementTimeoutMs = 5000 } = {}) => {
    if (url === undefined) throw new Skip(reason ?? "DATABASE_URL is not set");
    const limits = { maxConnections: 1, statementTimeoutMs };
    const db = openDatabase({ url, ...options, ...limits, applicationName: "tessera-doctor", log });
    opened.push(db);
    return db;
  };
  /** Connects as the user of the URL. Rejects with a Skip without a database, else with the failure. */
  const connect = once(async () => {
    const db = open({ schema: "public" });
    await db.one(sql`select 1 as alive`);
    return db;
  });
  /** Why a service cannot use its schema; undefined: it can. Rejects with a Skip if no database answers. */
  const refusal = once(async ({ schema, migrations }: Service) => {
    await connect().catch(() => {
      throw new Skip("no database answers");
    });
    return requireMigrated({ url: url ?? "", schema, role: roleOf(schema), migrations, log }).then(
      () => undefined,
      (error: unknown) => error,
    );
  });
  /** Connects as the role of a service. Rejects with a Skip if its schema cannot be used. */
  const as = async (service: Service, limits: { readonly statementTimeoutMs?: number } = {}) => {
    if ((await refusal(service)) !== undefined) throw new Skip("its schema cannot be used");
    return open({ schema: service.schema, role: roleOf(service.schema) }, limits);
  };
  const close = async () => {
    await Promise.allSettled(opened.map((db) => db.close()));
  };
  return { connect, as, refusal, close };
}

/** Memoizes by subject. */
function once<S extends readonly unknown[], T>(ask: (...subject: S) => Promise<T>): (...subject: S) => Promise<T> {
  const answers = new Map<unknown, Promise<T>>();
  return (...subject) => {
    const answer = answers.get(subject[0]) ?? ask(...subject);
    answers.set(subject[0], answer);
    return answer;
  };
}
