import { posix } from "node:path";
import { lineAt } from "./find-imports.ts";
import { isPure } from "./import-rules.ts";
import { isForTests, isTypeScript, type Source } from "./read-sources.ts";
import { type Finding, findPattern, type Rule } from "./rule.ts";

const grpcCode =
  /\bstatus\.[A-Z][A-Z_]+\b|\b(?:CANCELLED|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS|PERMISSION_DENIED|RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|UNIMPLEMENTED|UNAUTHENTICATED)\b/;
const httpCode = (digits: string): RegExp =>
  new RegExp(
    `\\b(?:status|statusCode)\\b\\s*[:=]\\s*${digits}\\d\\d\\b|\\b(?:writeHead|throw|redirect|respond)\\(\\s*${digits}\\d\\d\\b`,
  );

/** Files that may name any HTTP status, and why. */
const namesHttpStatus: readonly RegExp[] = [
  // The one map from Fault to HTTP.
  /^gateway\/src\/problem\.ts$/,
  // The page of a path that is no route: there is no Fault behind it.
  /^gateway\/src\/not-found-page\.ts$/,
  // A business outcome, a refused scan for instance, is a value until the published interface gives it a status.
  /^gateway\/src\/routes\/[^/]+\/present\.ts$/,
  // The probes' own port.
  /^packages\/kit\/src\/operations-server\.ts$/,
  // A client of the interface.
  /^packages\/cli\//,
];

export const textRules: readonly Rule[] = [
  {
    name: "domain and values neither wait nor look around",
    remedy: "Take the time, the random number or the setting as an argument; await in the handler.",
    find: (sources) =>
      sources
        .filter(isPure)
        .flatMap((source) =>
          findPattern(
            source,
            "bare",
            /\bawait\b|\basync\b|\bDate\.now\b|\bnew Date\(\s*\)|\bprocess\.|\bTemporal\.Now\b|\bMath\.random\b|\bperformance\.now\b|\bset(?:Timeout|Interval|Immediate)\(|\bfetch\(/,
          ),
        ),
    broken: [
      { "services/checkin/src/domain/decide.ts": "const list = await load();" },
      { "services/checkin/src/domain/decide.ts": "const now = Date.now() * 1000;" },
      { "services/checkin/src/domain/decide.ts": "const today = new Date( );" },
      { "services/checkin/src/domain/deep/decide.ts": "if (process.env.STRICT) stop();" },
      { "packages/values/src/code.ts": "const digit = Math.random();" },
    ],
    sound: [
      {
        "services/checkin/src/domain/decide.ts":
          "// await nothing, ask process.env for nothing\nconst text = `Date.now`;",
      },
      { "services/checkin/src/domain/decide.ts": "const start = new Date(0);" },
      { "services/checkin/src/handlers/redeem.ts": "const list = await load();" },
    ],
  },
  {
    name: "kit knows no ticket",
    remedy: "Kit is how any service runs: name what the code does there, or move it to the service it belongs to.",
    find: (sources) =>
      sources
        .filter((source) => source.path.startsWith("packages/kit/src/") && !isForTests(source))
        .flatMap((source) =>
          findPattern(
            source,
            "text",
            /ticket|Ticket|voucher|Voucher|attendee|Attendee|(?:(?<![A-Za-z])scan|Scan)(?:s|ned|ner|ning)?(?![a-z])|(?<![A-Za-z])orders(?![A-Za-z])|\border_?[iI]d\b/,
          ),
        ),
    broken: [
      { "packages/kit/src/metrics.ts": "const scansTotal = 0;" },
      { "packages/kit/src/metrics.ts": "// counts every ticket" },
      { "packages/kit/src/jobs.ts": "const lastScan = 1;" },
      { "packages/kit/src/jobs.ts": "export function redeemVoucher() {}" },
      { "packages/kit/src/jobs.ts": "const orderId = 1;" },
    ],
    sound: [
      { "packages/kit/src/jobs.ts": "// In order, by the gateway, checking: order by id." },
      { "packages/kit/src/jobs.test.ts": 'const name = "scans_total";' },
      { "services/checkin/src/index.ts": "const ticket = 1;" },
    ],
  },
  {
    name: "one file maps faults to gRPC",
    remedy: "Throw a Fault; packages/kit/src/grpc/fault-status.ts gives it its code.",
    find: (sources) =>
      shipped(sources)
        .filter(({ path }) => path !== "packages/kit/src/grpc/fault-status.ts")
        .flatMap((source) => findPattern(source, "bare", grpcCode)),
    broken: [
      { "services/checkin/src/handlers/redeem.ts": "throw fail(status.NOT_FOUND);" },
      { "packages/kit/src/grpc/server.ts": "const code = codes.INVALID_ARGUMENT;" },
    ],
    sound: [
      { "packages/kit/src/grpc/fault-status.ts": "const code = status.NOT_FOUND;" },
      { "gateway/src/a.ts": "ctx.status = given;" },
    ],
  },
  {
    name: "one file maps faults to HTTP",
    remedy:
      "Throw a Fault; gateway/src/problem.ts gives it its status. A present.ts may name the status of an outcome, everything else in the gateway that of a success.",
    find: (sources) =>
      shipped(sources)
        .filter(({ path }) => !namesHttpStatus.some((allowed) => allowed.test(path)))
        .flatMap((source) =>
          findPattern(source, "bare", httpCode(source.path.startsWith("gateway/src/") ? "[45]" : "[1-5]")),
        ),
    broken: [
      { "gateway/src/routes/vouchers/routes.ts": "ctx.status = 404;" },
      { "gateway/src/middleware/throttle.ts": "ctx.throw(429);" },
      { "services/checkin/src/handlers/redeem.ts": "return { status: 200 };" },
      { "packages/kit/src/health.ts": "response.writeHead(503);" },
    ],
    sound: [
      { "gateway/src/problem.ts": "ctx.status = 404;" },
      { "gateway/src/routes/vouchers/routes.ts": "ctx.status = 201;" },
      { "gateway/src/routes/redeem/present.ts": "return { status: 404 };" },
      { "packages/cli/src/doctor.ts": "if (response.status !== 200) fail();" },
    ],
  },
  {
    name: "no test is switched off and none runs alone",
    remedy: "Run the test, or delete it. A test that lacks a dependency says so with context.skip(reason).",
    find: (sources) =>
      sources
        .filter(isTypeScript)
        .flatMap((source) =>
          findPattern(
            source,
            "bare",
            /\b(?:it|test|describe|suite|bench)(?:\.\w+)*\.(?:only|skip|todo|fails)\b|\bx(?:it|describe)\(/,
          ),
        ),
    broken: [
      { "packages/kit/src/a.test.ts": 'it.only("runs", () => {});' },
      { "packages/kit/src/a.test.ts": 'describe.skip("runs", () => {});' },
      { "packages/kit/src/a.test.ts": 'it.concurrent.skip.each([1])("runs", () => {});' },
      { "packages/kit/src/a.test.ts": 'test.todo("runs");' },
    ],
    sound: [{ "packages/kit/src/a.test.ts": 'it("never says it.only(", ({ skip }) => skip("no Kafka here"));' }],
  },
  {
    name: "nothing is left to do",
    remedy: "Do it now, or write it down where work is planned; the code says what is.",
    find: (sources) =>
      sources.filter(isWritten).flatMap((source) => findPattern(source, "text", /\b(?:TO[D]O|FIX[M]E)\b/)),
    broken: [{ "gateway/src/app.ts": `// ${"TO"}DO later` }, { "charts/tessera/values.yaml": `# ${"FIX"}ME` }],
    sound: [{ "gateway/src/app.ts": "// everything to do is done" }],
  },
  {
    name: "the project speaks of itself alone",
    remedy: "Say it without a path of one machine, a registry's host or the name of a tool that wrote it.",
    find: (sources) =>
      sources.flatMap((source) =>
        findPattern(
          source,
          "text",
          // Each word is spelled so that it does not find itself.
          /(?<![\w.$*}])\/(?:wor[k]|roo[t]|far[m]|hom[e])\/[\w.]|registr[y]\.(?:npmjs|yarnpkg|npmmirror)|\bhold-?ou[t]\b|\bCo-Authored-B[y]\b|\b(?:claud[e]|anthropi[c]|copilo[t]|chatgp[t])\b/i,
        ),
      ),
    broken: [
      { "docs/operations.md": `see ${"/wo"}rk/main` },
      { "gateway/src/app.ts": `const path = "${"/ro"}ot/.npmrc";` },
      { "pnpm-lock.yaml": `tarball: https://${"regis"}try.npmjs.org/pg` },
    ],
    sound: [{ "docs/operations.md": "a network at work; https://tessera.example/rooted/ and src/workers/" }],
  },
  {
    name: "names say what is inside",
    remedy: "Name the file after what happens in it; index.ts is for a package's door and the map of all routes.",
    find: (sources) => sources.filter(isWritten).flatMap(findEmptyName),
    broken: [
      { "services/checkin/src/utils.ts": "" },
      { "gateway/src/helpers/format.ts": "" },
      { "services/checkin/src/handlers/scan-manager.ts": "" },
      { "services/checkin/src/domain/index.ts": "" },
    ],
    sound: [
      { "services/checkin/src/index.ts": "" },
      { "gateway/src/routes/index.ts": "" },
      { "protos/ticketing/type/v1/money.proto": "" },
    ],
  },
  {
    name: "a file fits a few screens",
    remedy: "Split it by what its parts do; 500 lines is the end.",
    find: (sources) =>
      sources
        .filter((source) => isWritten(source) && !isForTests(source) && /\.(?:ts|mjs)$/.test(source.path))
        .filter(({ text }) => text.split("\n").length > 501)
        .map(({ path, text }) => ({ path, line: 501, what: `${text.split("\n").length - 1} lines` })),
    broken: [{ "gateway/src/app.ts": "let a = 1;\n".repeat(501) }],
    sound: [{ "gateway/src/app.ts": "let a = 1;\n".repeat(500) }],
  },
  {
    name: "no function takes a bare true or false",
    remedy: "Make it a named property of an options object, so that the call can be read.",
    find: (sources) => shipped(sources).flatMap(findBooleanParameters),
    broken: [
      { "gateway/src/app.ts": "export function open(name: string, durable: boolean): void {}" },
      { "gateway/src/app.ts": "export async function open<T>(\n  name: T,\n  durable = false,\n): Promise<void> {}" },
      { "gateway/src/app.ts": "class Door {\n  open(wide?: boolean): void {}\n}" },
    ],
    sound: [
      {
        "gateway/src/app.ts":
          "export function open(name: string, { durable = false }: { durable?: boolean }): boolean {}",
      },
      { "gateway/src/app.ts": "export function open(guard: (value: string) => boolean): void {}" },
    ],
  },
  {
    name: "SQL follows the conventions",
    remedy:
      "Enumerate columns, keywords in lower case, text for varchar, timestamptz for timestamp, half-open intervals for between.",
    find: (sources) =>
      sources.flatMap((source) => {
        // A copy of a table, whatever its columns, is the one honest use of the star.
        const everywhere = /(?<!\btable .* as )\b(?:select|returning)\s+(?:\w+\.)?\*/i;
        const inFiles =
          /\bvarchar\b|\bcharacter varying\b|\btimestamp\b(?!tz)|\bbetween\b|\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|CREATE|ALTER|TABLE|INDEX|PRIMARY|REFERENCES|DEFAULT|NOT NULL)\b/;
        if (source.path.endsWith(".sql"))
          return [...findPattern(source, "code", everywhere), ...findPattern(source, "code", inFiles)];
        return isTypeScript(source) && !isForTests(source) ? findPattern(source, "code", everywhere) : [];
      }),
    broken: [
      { "services/checkin/src/store/scans.ts": "const rows = sql`select * from scan`;" },
      { "services/checkin/src/store/scans.ts": "const rows = sql`insert into scan (id) values (1) returning scan.*`;" },
      { "services/checkin/migrations/0001_a.sql": "create table a (name varchar(20));" },
      { "services/checkin/migrations/0001_a.sql": "create table a (made_at timestamp not null);" },
      { "services/checkin/migrations/0001_a.sql": "CREATE TABLE a (id bigint);" },
    ],
    sound: [
      {
        "services/checkin/migrations/0001_a.sql":
          "-- Kept BETWEEN two runs.\ncreate table a (made_at timestamptz not null);",
      },
      { "packages/kit/src/pg/server.ts": "const text = `create table copy as select * from original`;" },
      { "services/checkin/src/store/scans.ts": "// select * would do\nconst rows = sql`select count(*) from scan`;" },
    ],
  },
  {
    name: "every package is compiled",
    remedy: "Add its folder to the references of the tsconfig.json at the root.",
    find: (sources) => {
      const root = sources.find(({ path }) => path === "tsconfig.json")?.text ?? "";
      return sources
        .filter(({ path }) => /^[^.].*\/tsconfig\.json$/.test(path))
        .filter(({ path }) => !root.includes(`"./${posix.dirname(path)}"`))
        .map(({ path }) => ({ path, line: 1, what: "no reference" }));
    },
    broken: [
      { "tsconfig.json": '{ "references": [{ "path": "./gateway" }] }', "services/voucher/tsconfig.json": "{}" },
    ],
    sound: [{ "tsconfig.json": '{ "references": [{ "path": "./gateway" }] }', "gateway/tsconfig.json": "{}" }],
  },
];

function shipped(sources: readonly Source[]): Source[] {
  return sources.filter(
    (source) =>
      isTypeScript(source) && !isForTests(source) && /^(?:packages|services|gateway|protos)\//.test(source.path),
  );
}

/** Written here, not by a tool: a lock file is as long, and says what it says, as it has to. */
function isWritten({ path }: Source): boolean {
  return path !== "pnpm-lock.yaml";
}

const emptyNames = /^(?:utils?|helpers?|common|misc|types|managers?|shared|lib)$/;

function findEmptyName({ path }: Source): Finding[] {
  const isDoor = /^(?:packages\/[^/]+\/src|services\/[^/]+\/src|gateway\/src|gateway\/src\/routes)\/index\.ts$/.test(
    path,
  );
  const words = path
    .split("/")
    .flatMap((part) => [part.replace(/\..*$/, ""), part.replace(/\..*$/, "").split("-").at(-1) ?? ""]);
  const empty =
    words.find((word) => emptyNames.test(word)) ?? (path.endsWith("/index.ts") && !isDoor ? "index.ts" : undefined);
  return empty === undefined ? [] : [{ path, line: 1, what: empty }];
}

/** Looks at the parameters of functions and methods that have a body; what a type says of a callback is the caller's affair. */
function findBooleanParameters({ path, bare }: Source): Finding[] {
  const declarations =
    /\bfunction\b\s*\w*\s*(?:<[^()]*>)?\(|^[ \t]+(?:(?:static|async|private|protected|public|override) )*(?!if|for|while|switch|catch|return)\w+(?:<[^()]*>)?\(/gm;
  return [...bare.matchAll(declarations)].flatMap(({ index, 0: head }) => {
    const { parameters, end } = readParameters(bare, index + head.length);
    const hasBody = /^\s*(?::[^;={]*(?:\{[^}]*\}[^;={]*)?)?\{/.test(bare.slice(end));
    const found = hasBody
      ? parameters.find((parameter) =>
          /^\s*\w+\??\s*(?::\s*boolean\b\s*(?:=|$)|=\s*(?:true|false)\s*$)/.test(parameter),
        )
      : undefined;
    return found === undefined ? [] : [{ path, line: lineAt(bare, index + head.search(/\S/)), what: found.trim() }];
  });
}

/** Splits a list of parameters, from behind its opening parenthesis, at the commas of its own level. */
function readParameters(code: string, start: number): { parameters: string[]; end: number } {
  const parameters = [""];
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    const char = code.charAt(at);
    if (char === ")" && depth === 0) return { parameters, end: at + 1 };
    if ("([{".includes(char)) depth++;
    if (")]}".includes(char)) depth--;
    if (char === "," && depth === 0) parameters.push("");
    else parameters[parameters.length - 1] += char;
  }
  return { parameters, end: code.length };
}
