import { createServer } from "node:net";
import type { ImportAnswer } from "@tessera/cli/import";
import { migrateAll } from "@tessera/cli/migrate";
import { startPlatform } from "@tessera/cli/platform";
import { createLog } from "@tessera/kit/log";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { expect } from "vitest";
import { type AnswerCheck, checkAnswersAgainst } from "./answer-check.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read into bodies of every shape
  readonly body: any;
}

export interface TestPlatform {
  readonly baseUrl: string;
  readonly databaseUrl: string;
  readonly operatorKey: string;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  import(records: Iterable<unknown>): Promise<ImportAnswer>;
  /** Names a text that no log line may ever hold. */
  keepOutOfLogs(...texts: string[]): void;
  stop(): Promise<void>;
}

export interface RequestOptions {
  /** For instance `Token abc`. */
  readonly as?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const operatorKey = "operator-key-of-the-tests-0123456789abcdef";

/** Starts everything in this process on a database of its own, as `tessera serve all` does. */
export async function startTestPlatform(options: {
  transport: "grpc" | "inprocess";
  environment?: Record<string, string>;
}): Promise<TestPlatform> {
  const database = await createEmptyDatabase();
  await migrateAll({ url: database.url, names: ["all"] });
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const lines: string[] = [];
  const forbidden = new Set<string>([operatorKey]);
  const platform = await startPlatform({
    names: ["all"],
    environment: {
      HTTP_HOST: "127.0.0.1",
      HTTP_PORT: String(port),
      BASE_URL: baseUrl,
      OPERATOR_KEY: operatorKey,
      ...options.environment,
    },
    databaseUrl: database.url,
    transport: options.transport,
    operationsPort: 0,
    log: createLog({
      service: "tessera",
      level: "debug",
      destination: { write: (line: string) => void lines.push(line) },
    }),
  });
  const check: AnswerCheck = await checkAnswersAgainst(`${baseUrl}/api/v1/openapi.json`);

  async function request(
    method: string,
    path: string,
    { as, body, headers = {} }: RequestOptions = {},
  ): Promise<Answer> {
    const raw = typeof body === "string" || body instanceof Uint8Array;
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(as === undefined ? {} : { authorization: as }),
        ...(body === undefined || raw ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : text,
    };
    check({ method, path, ...answer });
    return answer;
  }

  return {
    baseUrl,
    databaseUrl: database.url,
    operatorKey,
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
    async stop() {
      await platform.stop();
      await database.drop();
      const leaks = lines.filter((line) => [...forbidden].some((text) => line.includes(text)));
      expect(leaks, "log lines that hold a secret or personal data").toEqual([]);
      expect(
        lines.filter((line) => line.includes('"level":"error"')),
        "errors in the log",
      ).toEqual([]);
      expect(lines.length, "log lines written at all").toBeGreaterThan(0);
    },
  };
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
