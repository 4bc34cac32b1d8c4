import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clearFormerServer } from "@tessera/embedded-postgres/server-process";
import { type Ended, type RunningCommand, runCommand } from "../e2e/command.ts";
import { findSteadyPorts } from "../e2e/find-ports.ts";
import { operatorKey } from "../e2e/sample-records.ts";

/** One process of `tessera serve all`. */
export interface PlatformProcess {
  readonly pid: number;
  /** When it was started, on the clock of `performance.now()`. */
  readonly startedAt: number;
  /** Resolves when it has printed that it is running. */
  readonly ready: Promise<void>;
  readonly ended: Promise<Ended>;
  /** `kill -9`; resolves when it has ended. */
  kill(): Promise<void>;
  signal(name: "SIGTERM" | "SIGINT"): void;
}

/** A platform that keeps its address and data through any number of restarts. */
export interface Platform {
  readonly baseUrl: string;
  readonly directory: string;
  start(): PlatformProcess;
  /** Stops the process in order and within this time, and deletes the data. */
  remove(): Promise<void>;
  readonly logFile: string;
}

export interface PlatformOptions {
  /** Undefined: it starts its own database. */
  readonly databaseUrl?: string;
  /** How its services call each other. */
  readonly transport?: "inprocess" | "grpc";
}

const longestStopMs = 15_000;

/** Prepares a platform; nothing runs yet. */
export async function createPlatform({
  databaseUrl,
  transport = "inprocess",
}: PlatformOptions = {}): Promise<Platform> {
  const directory = await mkdtemp(join(tmpdir(), "tessera-failure-"));
  await chmod(directory, 0o755);
  const [port] = await findSteadyPorts(1);
  const lives: RunningCommand[] = [];
  const data = join(directory, "data");
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    directory: data,
    logFile: join(data, "tessera.log"),
    start() {
      const database = databaseUrl === undefined ? [] : ["--database-url", databaseUrl];
      const startedAt = performance.now();
      const place = ["--port", String(port), "--data", data, "--transport", transport];
      const command = runCommand(["serve", "all", ...place, ...database], {
        TESSERA_OPERATOR_KEY: operatorKey,
      });
      lives.push(command);
      const ready = command.printed("Ctrl-C stops it.").then(() => {});
      // A test that kills it during its start does not wait for it.
      ready.catch(() => {});
      return {
        pid: command.process.pid ?? 0,
        startedAt,
        ready,
        ended: command.ended,
        async kill() {
          command.process.kill("SIGKILL");
          await command.ended;
        },
        signal: (name) => void command.process.kill(name),
      };
    },
    async remove() {
      for (const command of lives.splice(0)) {
        command.process.kill("SIGTERM");
        const gone = await Promise.race([command.ended, sleep(longestStopMs)]);
        if (gone === undefined) command.process.kill("SIGKILL");
        await command.ended;
      }
      // A command that was killed and not started again has left its database running.
      await clearFormerServer(join(data, "postgres", "data"), () => {});
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export interface LogLine {
  readonly level: string;
  readonly time: string;
  readonly message: string;
  readonly error?: { readonly kind?: string };
}

/** Reads the log. */
export async function readLog({ logFile }: Platform): Promise<LogLine[]> {
  return parseLog((await readFile(logFile, "utf8")).split("\n"));
}

/** Parses lines of a log; a line that a kill cut off is left out. */
export function parseLog(lines: readonly string[]): LogLine[] {
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as LogLine];
    } catch {
      return [];
    }
  });
}

/** Errors of the log by message, with an example each; `outage`: without those about the database being down. */
export async function findLoggedErrors(platform: Platform, options: { outage?: boolean } = {}): Promise<string[]> {
  return describeErrors(await readLog(platform), options);
}

/** Errors among log lines by message, with an example each; `outage`: without those about something being down. */
export function describeErrors(lines: readonly LogLine[], { outage = false } = {}): string[] {
  const errors = lines.filter(({ level, error }) => {
    const isError = level === "error" || level === "fatal";
    return isError && !(outage && (error?.kind === "unavailable" || error?.kind === "timeout"));
  });
  return [...Map.groupBy(errors, ({ message }) => message)].map(
    ([message, found]) => `logged ${found.length} times "${message}": ${JSON.stringify(found[0])}`,
  );
}
