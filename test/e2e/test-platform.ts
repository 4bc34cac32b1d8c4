import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ImportAnswer } from "@tessera/cli/import/import-answer";
import { expect } from "vitest";
import { type AnswerCheck, checkAnswersAgainst } from "./answer-check.ts";
import { createPlatformDatabase } from "./platform-database.ts";
import { findInstalled, kindOfRun, type PlatformKind, type RunningParts, runPlatform } from "./run-platform.ts";
import { operatorKey } from "./sample-records.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read into bodies of every shape
  readonly body: any;
  /** The body as it came. */
  readonly bytes: Buffer;
}

export interface TestPlatform {
  readonly baseUrl: string;
  /** Of all gateways. */
  readonly baseUrls: readonly string[];
  /** What links in answers begin with. */
  readonly publicUrl: string;
  /** The address of health and metrics, if it runs in this process. */
  readonly operationsUrl: string | undefined;
  readonly databaseUrl: string;
  /** Where it keeps files. */
  readonly filesDirectory: string;
  readonly operatorKey: string;
  /** How servers of the outside call its services, if calls cross sockets. */
  readonly outside: RunningParts["outside"];
  /** The brokers of its bus, if it is not in this process. */
  readonly kafka: RunningParts["kafka"];
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  import(records: Iterable<unknown>): Promise<ImportAnswer>;
  /** Adds a text that no log line may contain. */
  keepOutOfLogs(...texts: string[]): void;
  /** Adds a message that errors in the log may have until it is examined. */
  expectErrors(...messages: string[]): void;
  /** Examines the log since the last time. */
  examineLog(): void;
  /** Examines the log, and stops the platform unless others use it. */
  stop(): Promise<void>;
}

export interface RequestOptions {
  /** For instance `Token abc`. */
  readonly as?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts the platform on a new database. Without settings of its own, one of processes is shared. */
export function startTestPlatform(options: { kind?: PlatformKind } & OwnOptions = {}): Promise<TestPlatform> {
  const { kind = kindOfRun, ...own } = options;
  const hasOwn = Object.keys(own).length > 0;
  if (kind === "installed" && hasOwn) throw new Error("an installed platform takes no settings");
  return (kind === "processes" && !hasOwn) || kind === "installed" ? sharePlatform(kind) : startOwn(kind, own);
}

let shared: Promise<TestPlatform> | undefined;

/** Its start takes longer than the tests of most files. Who uses it has an organizer of its own. */
async function sharePlatform(kind: PlatformKind): Promise<TestPlatform> {
  shared ??= startOwn(kind);
  const platform = await shared;
  return { ...platform, stop: async () => platform.examineLog() };
}

/** Stops the platform that tests of this process have shared. */
export async function stopSharedPlatform(): Promise<void> {
  await (await shared)?.stop();
  shared = undefined;
}

interface OwnOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Prepares the database before the platform connects to it. */
  readonly prepare?: (databaseUrl: string) => Promise<void>;
}

async function startOwn(kind: PlatformKind, { environment = {}, prepare }: OwnOptions = {}): Promise<TestPlatform> {
  const database =
    kind === "installed" ? { url: findInstalled().databaseUrl, drop: async () => {} } : await createPlatformDatabase();
  await prepare?.(database.url);
  const files = await mkdtemp(join(tmpdir(), "tessera-e2e-"));
  const lines: string[] = [];
  const forbidden = new Set<string>([operatorKey]);
  const expected = new Set<string>();
  let seen = 0;
  const parts = await runPlatform(kind, {
    databaseUrl: database.url,
    environment: { OPERATOR_KEY: operatorKey, FILES_DIR: files, ...environment },
    onLogLine: (line) => void lines.push(line),
  });
  const [baseUrl = ""] = parts.baseUrls;
  let requests = 0;
  const check: AnswerCheck = await checkAnswersAgainst(`${baseUrl}/api/v1/openapi.json`);

  async function request(
    method: string,
    path: string,
    { as, body, headers = {} }: RequestOptions = {},
  ): Promise<Answer> {
    const raw = typeof body === "string" || body instanceof Uint8Array;
    // In turn over all gateways, as behind a balancer.
    requests += 1;
    const response = await fetch(`${parts.baseUrls[requests % parts.baseUrls.length]}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(as === undefined ? {} : { authorization: as }),
        ...(body === undefined || raw ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const text = bytes.toString();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : text,
      bytes,
    };
    check({ method, path, ...answer });
    return answer;
  }

  function examineLog(): void {
    const [written, messages] = [lines.splice(0), [...expected]];
    expected.clear();
    seen += written.length;
    const leaks = written.filter((line) => [...forbidden].some((text) => line.includes(text)));
    expect(leaks, "log lines that hold a secret or personal data").toEqual([]);
    const errors = written.filter((line) => line.includes('"level":"error"'));
    expect(
      errors.filter((line) => !messages.some((message) => line.includes(message))),
      "errors in the log",
    ).toEqual([]);
    expect(seen, "log lines written at all").toBeGreaterThan(0);
  }

  return {
    baseUrl,
    baseUrls: parts.baseUrls,
    publicUrl: parts.publicUrl ?? baseUrl,
    operationsUrl: parts.operationsUrl,
    databaseUrl: database.url,
    filesDirectory: files,
    operatorKey,
    outside: parts.outside,
    kafka: parts.kafka,
    request,
    async import(records) {
      const body = [...records]
        .map((record) => (typeof record === "string" ? record : JSON.stringify(record)))
        .join("\n");
      const answer = await request("POST", "/api/v1/import/", {
        as: `Token ${operatorKey}`,
        body,
        headers: { "content-type": "application/x-ndjson" },
      });
      expect(answer.status).toBe(200);
      return answer.body as ImportAnswer;
    },
    keepOutOfLogs: (...texts) => texts.forEach((text) => void forbidden.add(text)),
    expectErrors: (...messages) => messages.forEach((message) => void expected.add(message)),
    examineLog,
    async stop() {
      await parts.stop();
      await database.drop();
      await rm(files, { recursive: true, force: true });
      examineLog();
    },
  };
}
