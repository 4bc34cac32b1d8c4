import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readSources } from "./read-sources.ts";
import { findText, textRules } from "./text-rules.ts";

const sources = readSources(fileURLToPath(new URL("../../", import.meta.url)));

describe("the repository", () => {
  it("has been read", () => {
    const paths = sources.map(({ path }) => path);
    expect(paths).toContain("test/architecture/text-rules.test.ts");
    expect(paths).toContain("package.json");
    expect(paths.filter((path) => /node_modules|\/dist\/|\/gen\//.test(path))).toEqual([]);
  });

  it.each(textRules.map((rule) => [rule.name, rule] as const))("%s", (_name, rule) => {
    expect(findText(rule, sources), rule.remedy).toEqual([]);
  });

  it("compiles every package: the references of the tsconfig.json at the root name its folder", () => {
    const references = sources.find(({ path }) => path === "tsconfig.json")?.text ?? "";
    const folders = sources
      .filter(({ path }) => /^[^.].*\/tsconfig\.json$/.test(path))
      .map(({ path }) => posix.dirname(path));
    expect(folders.filter((folder) => !references.includes(`"./${folder}"`))).toEqual([]);
  });
});

/** Per rule, files that break it and files that only look like it: a path and a text each. */
const samples: Readonly<Record<string, { broken: readonly [string, string?][]; sound: readonly [string, string?][] }>> =
  {
    "kit knows no ticket": {
      broken: [
        ["packages/kit/src/telemetry/metrics.ts", "const scansTotal = 0;"],
        ["packages/kit/src/telemetry/metrics.ts", "// counts every ticket"],
        ["packages/kit/src/jobs.ts", "const lastScan = 1;"],
        ["packages/kit/src/jobs.ts", "export function redeemVoucher() {}"],
        ["packages/kit/src/jobs.ts", "const orderId = 1;"],
        ["packages/kit/src/jobs.ts", "// asks for the event first"],
        ["packages/kit/src/jobs.ts", "where erasure.organizer = 1"],
      ],
      sound: [
        ["packages/kit/src/jobs.ts", "// In order, by the event loop, checking: order by id."],
        ["packages/kit/src/jobs.test.ts", 'const name = "scans_total";'],
        ["services/checkin/src/index.ts", "const ticket = 1;"],
      ],
    },
    "kit's tables are named in kit alone": {
      broken: [
        ["services/checkin/src/store/lists.ts", "    insert into outbox (fact_id)"],
        ["packages/cli/src/doctor/look.ts", "  from named.dead_letter"],
        ["services/checkin/migrations/0009_a.sql", "alter table inbox add column a text;"],
        ["gateway/src/store/a.ts", "  where passed_marker.consumer = 1"],
        ["services/boxoffice/src/store/a.ts", "delete from answered_request"],
        ["services/boxoffice/src/store/a.ts", "update work set state = 'waiting'"],
      ],
      sound: [
        ["packages/kit/src/bus/relay.ts", "    insert into outbox (fact_id)"],
        ["services/checkin/src/store/lists.db.test.ts", "select count(*) from outbox"],
        ["services/checkin/src/store/statements/lists.sql", "  insert into outbox (fact_id)"],
        ["services/checkin/src/index.ts", "// The relay reads the outbox; rebuilds come from the owner."],
        ["services/checkin/src/index.ts", "// What comes from work that has ended."],
      ],
    },
    "advisory locks are declared": {
      broken: [["services/checkin/src/store/lists.ts", "select pg_try_advisory_xact_lock(7)"]],
      sound: [
        ["packages/kit/src/pg/locks.ts", "select pg_advisory_xact_lock(7)"],
        ["services/checkin/src/store/lists.db.test.ts", "select pg_advisory_lock(7)"],
      ],
    },
    "faults come from a catalogue": {
      broken: [["gateway/src/app.ts", 'throw new Fault("invalid", "odd", "this is odd");']],
      sound: [
        ["gateway/src/app.ts", 'throw fault("odd", "this is odd");'],
        ["gateway/src/app.test.ts", 'throw new Fault("invalid", "odd", "this is odd");'],
        ["packages/engines/src/grpc/fault-status.ts", "return new Fault(kind, code, message);"],
      ],
    },
    "nothing is left to do": {
      broken: [
        ["gateway/src/app.ts", `// ${"TO"}DO later`],
        ["charts/tessera/values.yaml", `# ${"FIX"}ME`],
      ],
      sound: [["gateway/src/app.ts", "// everything to do is done"]],
    },
    "the project speaks of itself alone": {
      broken: [
        ["docs/operations.md", `see ${"/wo"}rk/main`],
        ["gateway/src/app.ts", `const path = "${"/ro"}ot/.npmrc";`],
        ["pnpm-lock.yaml", `tarball: https://${"regis"}try.npmjs.org/pg`],
        ["gateway/src/app.ts", `/** Lists kinds (${"sou"}rce: contract 4.7). */`],
        ["gateway/src/app.ts", `/** Lists kinds (${"sou"}rce: behaviour of vouchers, C2). */`],
        ["gateway/src/app.ts", `// See ${"decis"}ions.md.`],
      ],
      sound: [
        ["docs/operations.md", "a network at work; https://tessera.example/rooted/ and src/workers/"],
        ["gateway/src/app.ts", "/** Lists kinds (D1.1). */"],
        ["gateway/src/app.ts", "function readAll(source: Source): void {}"],
      ],
    },
    "names say what is inside": {
      broken: [
        ["services/checkin/src/utils.ts"],
        ["gateway/src/helpers/format.ts"],
        ["services/checkin/src/handlers/scan-manager.ts"],
        ["services/checkin/src/domain/index.ts"],
      ],
      sound: [
        ["services/checkin/src/index.ts"],
        ["gateway/src/routes/index.ts"],
        ["protos/ticketing/type/v1/money.proto"],
        ["gateway/src/access/permission-types-of-keys.ts"],
      ],
    },
    "SQL follows the conventions": {
      broken: [
        ["services/checkin/migrations/0001_a.sql", "create view a as select scan.* from scan;"],
        ["services/checkin/migrations/0001_a.sql", "create table a (name varchar(20));"],
        ["services/checkin/migrations/0001_a.sql", "create table a (made_at timestamp not null);"],
        ["services/checkin/migrations/0001_a.sql", "CREATE TABLE a (id bigint);"],
        ["services/checkin/migrations/0001_a.sql", "delete from a where id between 1 and 2;"],
      ],
      sound: [
        [
          "services/checkin/migrations/0001_a.sql",
          "-- Kept BETWEEN two runs.\n/* FROM here\nTO there */\ncreate table a (made_at timestamptz not null);",
        ],
      ],
    },
    "plain words": {
      broken: [
        ["gateway/src/app.ts", "// Nobody waits for a client."],
        ["services/checkin/README.md", "Whoever scans first wins."],
        ["protos/ticketing/type/v1/money.proto", "// What is none of these."],
        ["services/checkin/migrations/0001_a.sql", "-- It is counted anew."],
        ["docs/operations.md", "He who waits for his lock"],
        ["scripts/test.mjs", "// for him"],
      ],
      sound: [
        ["gateway/src/app.test.ts", "// nobody"],
        ["gateway/src/app.ts", "// The history of this header; there are nonempty lists."],
      ],
    },
  };

describe.each(textRules.map((rule) => [rule.name, rule] as const))("the rule “%s”", (name, rule) => {
  const { broken = [], sound = [] } = samples[name] ?? {};
  it.each(broken)("finds what breaks it: %s %s", (path, text = "") => {
    expect(findText(rule, [{ path, text }])).toEqual([expect.stringMatching(`^${path}:\\d+ .`)]);
  });
  it.each(sound)("leaves alone: %s %s", (path, text = "") => {
    expect(findText(rule, [{ path, text }])).toEqual([]);
  });
  it("has samples, and says what to do", () => {
    expect([broken.length > 0, sound.length > 0, /^[A-Z].*\.$/.test(rule.remedy)]).toEqual([true, true, true]);
  });
});
