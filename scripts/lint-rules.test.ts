import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import house from "./lint-rules.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));

const domain = "services/checkin/src/domain/decide.ts";
const handler = "services/checkin/src/handlers/redeem.ts";
const store = "services/checkin/src/store/scans.ts";
const routes = "gateway/src/routes/vouchers/routes.ts";
const unit = "packages/kit/src/jobs.test.ts";

/** The rule that a file of one line breaks, if any. */
const files: readonly (readonly [rule: string | undefined, path: string, text: string])[] = [
  ["pure", domain, "const list = await load();"],
  ["pure", domain, "export async function load() {}"],
  ["pure", domain, "export const load = async () => 1;"],
  ["pure", domain, "for await (const row of rows) use(row);\nexport {};"],
  ["pure", domain, "const now = Date.now() * 1000;"],
  ["pure", domain, "const today = new Date( );"],
  ["pure", domain, "const now = Temporal.Now.instant();"],
  ["pure", domain, "const since = performance.now();"],
  ["pure", domain, "setTimeout(stop, 5);"],
  ["pure", domain, "const id = crypto.randomUUID();"],
  ["pure", "services/checkin/src/domain/deep/decide.ts", "if (process.env.STRICT) stop();"],
  ["pure", "packages/values/src/code.ts", "const digit = Math.random();"],
  ["pure", "packages/admission/src/decide-scan.ts", "const now = Date.now() * 1000;"],
  ["stateless", domain, "export let count = 0;"],
  ["stateless", domain, "const cache = new Map<string, number>();"],
  ["stateless", domain, "export const cache = new LRUCache({ max: 5 });"],
  ["stateless", "packages/values/src/code.ts", "const seen = new Set();"],
  ["stateless", "packages/admission/src/readers.ts", "const rules = new LRUCache({ max: 5 });"],
  ["faults-to-grpc", handler, "throw fail(status.NOT_FOUND);"],
  ["faults-to-grpc", "packages/kit/src/grpc/server.ts", "const code = codes.INVALID_ARGUMENT;"],
  ["faults-to-http", routes, "ctx.status = 404;"],
  ["faults-to-http", routes, "const status = 500;"],
  ["faults-to-http", "gateway/src/middleware/throttle.ts", "ctx.throw(429);"],
  ["faults-to-http", routes, "ctx.status = 201;"],
  ["faults-to-http", routes, "export const answers = { 404: missing };"],
  ["faults-to-http", "gateway/src/routes/redeem/present.ts", "export const answer = () => ({ status: 404 });"],
  ["faults-to-http", handler, "export const answer = () => ({ status: 200 });"],
  ["faults-to-http", handler, "interface Answer { readonly status: 200 }"],
  ["faults-to-http", "packages/kit/src/service/health.ts", "response.writeHead(503);"],
  ["faults-to-http", "packages/cli/src/serve/operations-server.ts", "response.writeHead(503);"],
  ["judged-statuses", routes, "if (status >= 400) tell();"],
  ["judged-statuses", "gateway/src/middleware/observe.ts", "if (ctx.status === 429) count();"],
  ["named-booleans", handler, "export function open(name: string, durable: boolean): void {}"],
  ["named-booleans", handler, "export async function open<T>(\n  name: T,\n  durable = false,\n): Promise<void> {}"],
  ["named-booleans", handler, "export function open(name: string, durable: boolean | undefined): void {}"],
  ["named-booleans", handler, "class Door {\n  open(wide?: boolean): void {}\n}"],
  ["named-booleans", handler, "export const open = (name: string, durable = false) => name + durable;"],
  ["named-booleans", handler, "interface Door {\n  open(wide: boolean): void;\n}"],
  ["named-booleans", handler, "type Open = (name: string, wide?: boolean) => void;"],
  ["every-test-runs", unit, 'it.only("runs", () => {});'],
  ["every-test-runs", unit, 'describe.skip("runs", () => {});'],
  ["every-test-runs", unit, 'it.concurrent.skip.each([1])("runs", () => {});'],
  ["every-test-runs", unit, 'test.todo("runs");'],
  ["every-test-runs", unit, 'xit("runs", () => {});'],
  ["enumerated-columns", store, "const rows = sql`select * from scan`;"],
  ["enumerated-columns", store, "const rows = sql`insert into scan (id) values (1) returning scan.*`;"],
  ["enumerated-columns", store, 'const rows = run("select scan.* from scan");'],
  ["max-lines", "gateway/src/app.ts", "// one\n".repeat(501)],

  [undefined, domain, "// await nothing, ask process.env for nothing\nconst text = `Date.now`;"],
  [undefined, domain, "const start = new Date(0);"],
  [undefined, domain, 'const kinds = new Map([["a", 1]]);\nexport const count = () => new Map();'],
  [undefined, "services/checkin/src/domain/decide.test.ts", "const list = await load();"],
  [undefined, handler, "const list = await load();\nlet count = 0;"],
  [undefined, "packages/engines/src/grpc/fault-status.ts", "const code = status.NOT_FOUND;"],
  [undefined, "gateway/src/http/problem.ts", "ctx.status = 404;"],
  [undefined, "gateway/src/app.ts", "ctx.status = given;"],
  [undefined, "gateway/src/http/problem.ts", "export const isSuccess = (status: number) => status < 300;"],
  [undefined, routes, 'export const reply = { status: "notFound", body: { count: 404 } };'],
  [undefined, "packages/cli/src/doctor.ts", "if (response.status !== 200) fail();"],
  [undefined, handler, "export function open(name: string, { durable = false }: { durable?: boolean }): boolean {}"],
  [undefined, handler, "export function open(guard: (value: string) => boolean): void {}"],
  [undefined, unit, 'it("never says it.only(", ({ skip }) => skip("no Kafka here"));'],
  [undefined, store, "// select * would do\nconst rows = sql`select count(*) from scan`;"],
  [undefined, store, "const text = `create table a as select * from original`;"],
  [undefined, "gateway/src/app.ts", "// one\n".repeat(499)],
];

interface Finding {
  /** Left out where a file cannot be parsed. */
  readonly code?: string;
  readonly message: string;
  readonly filename: string;
}

describe("a file", () => {
  const folder = mkdtempSync(join(tmpdir(), "tessera-lint-"));
  let findings: Finding[] = [];
  /** Each file of the table in a repository of its own. */
  const placeOf = (index: number) => `${index}/`;
  beforeAll(() => {
    const config = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8"));
    const anywhere = (globs: string[]) => globs.map((glob) => `**/${glob}`);
    const write = (path: string, text: string) => {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    write(
      ".oxlintrc.json",
      JSON.stringify({
        ...config,
        options: {},
        jsPlugins: [join(root, "scripts/lint-rules.mjs")],
        overrides: config.overrides.map((each: { files: string[] }) => ({ ...each, files: anywhere(each.files) })),
      }),
    );
    for (const [index, [, path, text]] of files.entries()) write(placeOf(index) + path, text);
    const { stdout } = spawnSync(join(root, "node_modules/.bin/oxlint"), ["--format=json"], {
      cwd: folder,
      encoding: "utf8",
    });
    findings = JSON.parse(stdout).diagnostics;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(files.map((file, index) => [...file, index] as const))("breaks %s: %s %s", (rule, _path, _text, index) => {
    const found = findings
      .filter(({ filename }) => filename.startsWith(placeOf(index)))
      .flatMap(
        ({ code }) =>
          /^house\((.*)\)$|^eslint\((max-lines)\)$/
            .exec(code ?? "")
            ?.slice(1)
            .filter(Boolean) ?? [],
      );
    expect([...new Set(found)]).toEqual(rule === undefined ? [] : [rule]);
  });

  it("breaks every rule once in the table, and each finding says what to do", () => {
    expect(Object.keys(house.rules).filter((name) => !files.some(([rule]) => rule === name))).toEqual([]);
    const messages = findings.filter(({ code }) => code?.startsWith("house(")).map(({ message }) => message);
    expect(messages.filter((message) => !/^[A-Z].*\.$/.test(message))).toEqual([]);
  });
});
