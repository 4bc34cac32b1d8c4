import { readFileSync } from "node:fs";
import { eventually } from "@tessera/testkit/eventually";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type CollectedSpan, collectSpans } from "./collect-spans.ts";
import { readScrape, type Scraped } from "./read-scrape.ts";
import { apiKey, eventPath, groundwork, listData, ofEvent, orderData, positionData } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

let platform: TestPlatform;
let scraped: ReadonlyMap<string, Scraped>;
let collector: Awaited<ReturnType<typeof collectSpans>>;
const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const secret = "scanned-kpk768q69gkbyr5f4h6w";

/** A platform that has done something of most kinds. Redis is away: what is measured of it does not need it. */
beforeAll(async () => {
  collector = await collectSpans();
  platform = await startTestPlatform({
    kind: "grpc",
    environment: {
      CACHE: "redis",
      REDIS_URL: "redis://127.0.0.1:1",
      RATE_LIMIT_REDEEM: "2",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    },
  });
  await platform.import([
    ...groundwork(),
    ofEvent("checkin_list", listData()),
    ofEvent("order", orderData({ positions: [positionData({ secret })] })),
    ofEvent("item", {}),
  ]);
  const statuses = [];
  const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
  for (const code of [secret, "unknown", secret]) {
    const scan = `${eventPath}/checkinlists/1/positions/${code}/redeem/`;
    statuses.push((await platform.request("POST", scan, { as: `Token ${apiKey}`, body: {}, headers })).status);
  }
  expect(statuses).toEqual([201, 404, 429]);
  const sampled = ["tessera_work_waiting", "tessera_facts_waiting", "tessera_facts_backlog", "tessera_facts_parked"];
  await eventually(async () => {
    scraped = readScrape(await (await fetch(`${platform.operationsUrl}/metrics`)).text());
    return sampled.every((name) => scraped.get(name)?.labels !== undefined);
  });
});
afterAll(async () => {
  await platform.stop();
  collector.close();
});

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), "utf8");

/** The rows of the table of all metrics. */
const documented = new Map(
  [...read("operations.md").matchAll(/^\| `(tessera_\w+)` \| (\w+) \|([\w, ]*)\| \S/gm)].map(
    ([, name = "", type, labels = ""]): [string, Scraped] => [
      name,
      { type: type ?? "", labels: labels.split(",").flatMap((label) => label.trim() || []), values: [] },
    ],
  ),
);

it("all metrics are documented with their type, and no others", () => {
  const ours = [...scraped].filter(([name]) => !/^(?:process|nodejs)_/.test(name));
  const typed = (metrics: Iterable<[string, Scraped]>) => Array.from(metrics, ([name, { type }]) => `${name} ${type}`);
  expect(typed(documented).sort()).toEqual(typed(ours).sort());
});

it("the labels of metrics are documented", () => {
  const measured = [...scraped].filter(([name, { labels }]) => documented.has(name) && labels !== undefined);
  expect(measured.length).toBeGreaterThan(25);
  for (const [name, { labels = [] }] of measured)
    expect([...labels].sort(), name).toEqual([...(documented.get(name)?.labels ?? [])].sort());
});

it("names and values of labels follow the conventions", () => {
  for (const [name, { type, values }] of scraped) {
    if (!documented.has(name)) continue;
    expect(name.endsWith("_total"), name).toBe(type === "counter");
    const ours = values.filter(
      ({ label }) => !["method", "route", "service", "topic", "version", "node"].includes(label),
    );
    for (const { label, value } of ours.filter(({ label }) => label !== "status"))
      expect(value, `${label} of ${name}`).toMatch(/^[a-z0-9_]*$/);
  }
});

it("what happened is counted under the words of the documentation", () => {
  const valuesOf = (name: string, label: string) =>
    (scraped.get(name)?.values ?? []).filter((each) => each.label === label).map(({ value }) => value);
  expect(valuesOf("tessera_checkin_scans_total", "outcome")).toEqual(
    expect.arrayContaining(["admitted", "unknown_ticket"]),
  );
  expect(valuesOf("tessera_http_too_many_requests_total", "reason")).toEqual(["rate_limited"]);
  expect(valuesOf("tessera_import_records_total", "outcome").sort()).toEqual(["accepted", "rejected"]);
  expect(new Set(valuesOf("tessera_db_connections", "pool"))).toEqual(new Set(["requests", "reads", "urgent"]));
  expect(valuesOf("tessera_http_request_duration_seconds", "route")).toContain(
    "/api/v1/organizers/{organizer}/events/{event}/checkinlists/{list}/positions/{lookup}/redeem/",
  );
  expect(valuesOf("tessera_build_info", "node")).toEqual([process.versions.node]);
});

it("the dashboard asks for what a scrape has", () => {
  interface Panel {
    readonly targets?: readonly { readonly expr: string }[];
  }
  const { panels } = JSON.parse(read("../charts/tessera/dashboards/tessera.json")) as {
    readonly panels: readonly Panel[];
  };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(15);
  for (const query of queries) {
    const named = [...query.matchAll(/\b(?:tessera|process|nodejs)_\w+/g)].map(([name]) => toMetric(name));
    expect(named.length, query).toBeGreaterThan(0);
    expect(
      named.filter((name) => !scraped.has(name)),
      query,
    ).toEqual([]);
    const asked = [
      ...query.matchAll(/\bby \(([^)]*)\)|\{namespace=~"\$namespace",release=~"\$release",(\w+)=/g),
    ].flatMap(([, grouped, selected]) => (selected === undefined ? (grouped ?? "").split(", ") : [selected]));
    const labels = new Set(["le", ...named.flatMap((name) => documented.get(name)?.labels ?? [])]);
    expect(
      asked.filter((label) => !labels.has(label)),
      query,
    ).toEqual([]);
  }
});

/** The series of a histogram have names of their own. */
function toMetric(series: string): string {
  const base = series.replace(/_(?:bucket|sum|count)$/, "");
  return scraped.get(base)?.type === "histogram" ? base : series;
}

it("a scan is one trace through its services, by the conventions of OpenTelemetry", async () => {
  const ofTrace = () => collector.spans.filter(({ traceId }) => traceId === trace);
  const find = (service: string, name: string, kind: number) => {
    const found = ofTrace().find((span) => span.service === service && span.name === name && span.kind === kind);
    expect(found, `${name} of ${service}`).toBeDefined();
    return found as CollectedSpan;
  };
  const template = "/api/v1/organizers/{organizer}/events/{event}/checkinlists/{list}/positions/{lookup}/redeem/";
  const method = "ticketing.checkin.v1.ScansService/Redeem";
  // They are sent every five seconds.
  const [request, call, answer] = await vi.waitFor(
    () => [find("gateway", `POST ${template}`, 2), find("gateway", method, 3), find("checkin", method, 2)] as const,
    { timeout: 100_000, interval: 200 },
  );
  expect(request.parentSpanId).toBe("00f067aa0ba902b7");
  const all = ofTrace();
  expect(all.map(({ spanId }) => spanId)).toContain(call.parentSpanId);
  expect(all.find(({ spanId }) => spanId === answer.parentSpanId)).toMatchObject({ service: "gateway", name: method });
  expect(request.attributes).toMatchObject({ "http.request.method": "POST", "http.route": template });
  expect(answer.attributes).toEqual({
    "rpc.system": "grpc",
    "rpc.service": "ticketing.checkin.v1.ScansService",
    "rpc.method": "Redeem",
  });
  const kinds = new Set(collector.spans.map(({ kind }) => kind));
  expect(kinds).toEqual(new Set([2, 3, 4, 5]));
  const statements = collector.spans.filter(({ attributes }) => attributes["db.system.name"] === "postgresql");
  expect(statements.map(({ attributes }) => String(attributes["db.namespace"]))).toContainEqual(
    expect.stringMatching(/^\w+\|boxoffice$/),
  );
});

it("traces contain no secrets, names and ids of the import", () => {
  const sent = JSON.stringify(collector.spans);
  for (const text of [secret, apiKey, "Zwiebelhuber", "bigevents", "sampleconf"]) expect(sent).not.toContain(text);
});
