import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { currentContext, runInContext } from "@tessera/kit/context";
import { Fault } from "@tessera/kit/fault";
import { createLog } from "@tessera/kit/telemetry/log";
import type { Tracing } from "@tessera/kit/telemetry/trace";
import { afterAll, describe, expect, it, vi } from "vitest";
import { startTracing } from "./tracing.ts";

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code: number; readonly message?: string };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface Delivery {
  readonly resourceSpans: readonly {
    resource: { attributes: readonly Attribute[] };
    scopeSpans: readonly { spans: readonly Span[] }[];
  }[];
}

const servers: Server[] = [];

afterAll(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

/** A collector that keeps what it is sent. */
async function collector({ answer = () => 200 }: { answer?: () => number | "drip" | undefined } = {}) {
  const deliveries: { url: string | undefined; authorization: string | undefined; body: Delivery }[] = [];
  const received: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push(request.url ?? "");
      const status = answer();
      if (status === undefined) return;
      if (status === "drip") return drip(response);
      const { url, headers } = request;
      if (status === 200)
        deliveries.push({ url, authorization: headers.authorization, body: JSON.parse(body) as Delivery });
      response.writeHead(status, { "Content-Type": "application/json" }).end("{}");
    });
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  const resourceSpans = () => deliveries.flatMap((delivery) => delivery.body.resourceSpans);
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    deliveries,
    spans: () => resourceSpans().flatMap((resource) => resource.scopeSpans.flatMap((scope) => scope.spans)),
    resource: () => attributesOf(resourceSpans()[0]?.resource.attributes),
    /** The names of spans by the service that they belong to. */
    byService: () =>
      Object.fromEntries(
        resourceSpans().map(({ resource, scopeSpans }) => [
          attributesOf(resource.attributes)["service.name"],
          scopeSpans.flatMap(({ spans }) => spans.map(({ name }) => name)),
        ]),
      ),
  };
}

/** Prevents a client's idle timeout by sending slowly. */
function drip(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write(" "), 100);
  response.once("close", () => clearInterval(timer));
}

function attributesOf(attributes: readonly Attribute[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

describe("a span", () => {
  it("is delivered with its service, name, attributes and duration", async () => {
    const stub = await collector();
    const tracing = await startTracing({ service: "checkin", endpoint: `${stub.endpoint}/` });
    const result = await tracing.span(
      "redeem",
      { attributes: { list: 7, outcome: "admitted 🎪", batch: true } },
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return 5;
      },
    );
    await tracing.shutdown();
    expect(result).toBe(5);
    expect(stub.deliveries.map((delivery) => delivery.url)).toEqual(["/v1/traces"]);
    expect(stub.resource()).toMatchObject({ "service.name": "checkin", "telemetry.sdk.language": "nodejs" });
    const [span, ...others] = stub.spans();
    expect(others).toEqual([]);
    expect(span?.name).toBe("redeem");
    expect(attributesOf(span?.attributes)).toEqual({ list: 7, outcome: "admitted 🎪", batch: true });
    expect(span?.status.code).toBe(0);
    expect(Number(BigInt(span?.endTimeUnixNano ?? 0) - BigInt(span?.startTimeUnixNano ?? 0))).toBeGreaterThan(15e6);
  });

  it("is the child of the one in the context, and the parent of what the work does", async () => {
    const stub = await collector();
    const tracing = await startTracing({ service: "checkin", endpoint: stub.endpoint });
    const deadline = Date.now() + 5000;
    const seen: string[] = [];
    await runInContext({ traceparent, deadline }, () =>
      tracing.span("outer", {}, async () => {
        seen.push(currentContext().traceparent ?? "");
        expect(currentContext().deadline).toBe(deadline);
        await Promise.all(
          ["left", "right"].map((name) =>
            tracing.span(name, {}, async () => void seen.push(currentContext().traceparent ?? "")),
          ),
        );
        expect(currentContext().traceparent).toBe(seen[0]);
      }),
    );
    await tracing.shutdown();
    const spans = new Map(stub.spans().map((span) => [span.name, span]));
    const outer = spans.get("outer");
    expect([...spans.values()].map((span) => span.traceId)).toEqual(Array(3).fill("4bf92f3577b34da6a3ce929d0e0e4736"));
    expect(outer?.parentSpanId).toBe("00f067aa0ba902b7");
    expect(spans.get("left")?.parentSpanId).toBe(outer?.spanId);
    expect(spans.get("right")?.parentSpanId).toBe(outer?.spanId);
    expect(seen).toEqual(
      ["outer", "left", "right"].map((name) => `00-${outer?.traceId}-${spans.get(name)?.spanId}-01`),
    );
  });

  it.each([undefined, "", "garbage", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`])(
    "begins a trace where the context has %j",
    async (given) => {
      const stub = await collector();
      const tracing = await startTracing({ service: "checkin", endpoint: stub.endpoint });
      await runInContext(given === undefined ? {} : { traceparent: given }, () =>
        tracing.span("root", {}, async () => {}),
      );
      await tracing.shutdown();
      expect(stub.spans()).toHaveLength(1);
      expect(stub.spans()[0]?.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
      expect(stub.spans()[0]?.parentSpanId ?? "").toBe("");
    },
  );

  it("of an unsampled trace is not delivered, and says so to those it calls", async () => {
    const stub = await collector();
    const tracing = await startTracing({ service: "checkin", endpoint: stub.endpoint });
    await runInContext({ traceparent: traceparent.replace(/01$/, "00") }, () =>
      tracing.span("silent", {}, async () => {
        expect(currentContext().traceparent).toMatch(
          /^00-4bf92f3577b34da6a3ce929d0e0e4736-(?!00f067aa0ba902b7)[0-9a-f]{16}-00$/,
        );
      }),
    );
    await tracing.shutdown();
    expect(stub.spans()).toEqual([]);
  });

  it.each([
    ["a bug", () => new TypeError("cannot read Ada"), { code: 2, message: "TypeError" }, { "error.type": "TypeError" }],
    [
      "an outage",
      () => new Fault("unavailable", "database_unavailable", "the database cannot be reached"),
      { code: 2, message: "the database cannot be reached" },
      { "tessera.fault.code": "database_unavailable", "error.type": "database_unavailable" },
    ],
    [
      "an answer of no",
      () => new Fault("not_found", "list_not_found", "no list has this id"),
      { code: 0 },
      { "tessera.fault.code": "list_not_found" },
    ],
    ["a thing that is no error", () => "Ada", { code: 2, message: "string" }, { "error.type": "string" }],
  ])("of work that throws %s says so without quoting", async (_what, make, status, attributes) => {
    const stub = await collector();
    const tracing = await startTracing({ service: "checkin", endpoint: stub.endpoint });
    const thrown = make();
    await expect(tracing.span("work", {}, () => Promise.reject(thrown as Error))).rejects.toBe(thrown);
    await tracing.shutdown();
    expect(stub.spans()[0]?.status).toEqual(status);
    expect(attributesOf(stub.spans()[0]?.attributes)).toEqual(attributes);
    expect(JSON.stringify(stub.deliveries)).not.toContain("Ada");
  });

  it("has its kind, and what its work says of it", async () => {
    const stub = await collector();
    const tracing = await startTracing({ service: "gateway", endpoint: stub.endpoint });
    for (const kind of ["internal", "server", "client", "producer", "consumer"] as const)
      await tracing.span(kind, { kind }, async () => {});
    await tracing.span("HTTP", { kind: "server" }, async (span) => {
      span.rename("GET /docs");
      span.set({ "http.response.status_code": 503 });
      span.fail("database_unavailable");
    });
    await tracing.shutdown();
    const spans = stub.spans();
    // As OTLP numbers them.
    expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
      ...[
        ["internal", 1],
        ["server", 2],
        ["client", 3],
        ["producer", 4],
        ["consumer", 5],
      ],
      ["GET /docs", 2],
    ]);
    expect(spans.map(({ status }) => status.code)).toEqual([0, 0, 0, 0, 0, 2]);
    expect(attributesOf(spans.at(-1)?.attributes)).toEqual({
      "http.response.status_code": 503,
      "error.type": "database_unavailable",
    });
  });

  it("of a refused call is a failure to its caller, and none to its server", async () => {
    const stub = await collector();
    const tracing = await startTracing({ service: "gateway", endpoint: stub.endpoint });
    const refused = () => Promise.reject(new Fault("not_found", "list_not_found", "there is no list called Ada"));
    for (const kind of ["client", "server"] as const)
      await expect(tracing.span(kind, { kind }, refused)).rejects.toThrow("Ada");
    await tracing.shutdown();
    expect(stub.spans().map(({ name, status }) => [name, status.code])).toEqual([
      ["client", 2],
      ["server", 0],
    ]);
    expect(JSON.stringify(stub.deliveries)).not.toContain("Ada");
  });

  it("belongs to a service of the process", async () => {
    const stub = await collector();
    const tracing = await startTracing({ service: "tessera", endpoint: stub.endpoint });
    await tracing.of("gateway").span("outer", {}, () => tracing.of("checkin").span("inner", {}, async () => {}));
    await tracing.span("own", {}, async () => {});
    await tracing.shutdown();
    expect(stub.byService()).toEqual({ gateway: ["outer"], checkin: ["inner"], tessera: ["own"] });
    const [inner, outer] = ["inner", "outer"].map((name) => stub.spans().find((span) => span.name === name));
    expect(inner?.parentSpanId).toBe(outer?.spanId);
  });

  it("carries what the environment says of the process, and its key to the collector", async () => {
    vi.stubEnv("OTEL_RESOURCE_ATTRIBUTES", "k8s.pod.name=checkin-0");
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc");
    const stub = await collector();
    const tracing = await startTracing({ service: "checkin", endpoint: stub.endpoint });
    await tracing.span("work", {}, async () => {});
    await tracing.shutdown();
    expect(stub.resource()).toMatchObject({ "service.name": "checkin", "k8s.pod.name": "checkin-0" });
    expect(stub.deliveries[0]?.authorization).toBe("Bearer abc");
  });

  it("is delivered among two thousand, none lost and none twice", async () => {
    const stub = await collector();
    const tracing = await startTracing({ service: "checkin", endpoint: stub.endpoint });
    await Promise.all(Array.from({ length: 2000 }, () => tracing.span("work", {}, async () => {})));
    await tracing.shutdown();
    expect(new Set(stub.spans().map((span) => span.spanId)).size).toBe(2000);
    expect(stub.spans()).toHaveLength(2000);
  });
});

describe("without an endpoint", () => {
  it("the work runs, and nothing else happens", async () => {
    const tracing = await startTracing({ service: "checkin" });
    await runInContext({ traceparent }, async () => {
      expect(await tracing.span("work", {}, async () => currentContext().traceparent)).toBe(traceparent);
    });
    await tracing.shutdown();
  });

  it("no library is loaded", async () => {
    const loaded = await run(`
      import { registerHooks } from "node:module";
      const seen = [];
      registerHooks({ resolve(name, context, next) { seen.push(name); return next(name, context); } });
      const { startTracing } = await import(${JSON.stringify(new URL("./tracing.ts", import.meta.url).href)});
      const tracing = await startTracing({ service: "checkin", endpoint: process.env.ENDPOINT });
      await tracing.span("work", {}, async () => {});
      await tracing.shutdown();
      process.stdout.write(JSON.stringify(seen.filter((name) => name.startsWith("@opentelemetry/")).length));`);
    expect(loaded.output).toBe("0");
  });
});

// Concurrently, since each of them waits for seconds.
describe.concurrent("a collector", () => {
  const listen = () => {
    const lines: string[] = [];
    return {
      lines,
      log: createLog({ service: "checkin", destination: { write: (line: string) => lines.push(line) } }),
    };
  };

  async function workOn(tracing: Tracing, spans: number): Promise<void> {
    await Promise.all(Array.from({ length: spans }, () => tracing.span("work", {}, async () => {})));
  }

  it.each([
    ["refuses", () => 400],
    ["is overloaded", () => 503],
    ["never answers", () => undefined],
    ["answers without an end", () => "drip" as const],
  ])("that %s disturbs no work, is told of once, and shutdown ends in time", async (_what, answer) => {
    const stub = await collector({ answer });
    const { log, lines } = listen();
    const tracing = await startTracing({ service: "checkin", endpoint: stub.endpoint, log });
    await workOn(tracing, 5000);
    const before = performance.now();
    await tracing.shutdown();
    expect(performance.now() - before).toBeLessThan(15_000);
    expect(lines.filter((line) => line.includes("traces lost"))).toHaveLength(1);
    await workOn(tracing, 1);
  });

  it("is waited for at shutdown by a batch that is being retried, though a later one is lost", async () => {
    const statuses = [503];
    const stub = await collector({ answer: () => statuses.pop() ?? 400 });
    const tracing = await startTracing({ service: "checkin", endpoint: stub.endpoint });
    await workOn(tracing, 512);
    await expect.poll(() => stub.received).toHaveLength(1);
    await workOn(tracing, 1);
    await tracing.shutdown();
    expect(stub.received).toHaveLength(3);
  });

  it("that is away leaves no timer, no socket and no rejection behind", async () => {
    const { output, code, tookMs } = await run(
      `${tracingScript("http://127.0.0.1:1")}
      await tracing.shutdown();
      // A destroyed socket is gone at the end of the turn.
      await new Promise((resolve) => setTimeout(resolve, 1));
      process.stdout.write(JSON.stringify(process.getActiveResourcesInfo().filter((name) => /Timeout|TCP/.test(name))));`,
    );
    expect([output, code]).toEqual(["[]", 0]);
    expect(tookMs).toBeLessThan(20_000);
  });

  it("that is away keeps a process that forgets to shut down no longer than one delivery takes", async () => {
    const { code, tookMs } = await run(tracingScript("http://127.0.0.1:1"));
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(20_000);
  });

  it("that comes back is delivered to again", async () => {
    let status = 400;
    const stub = await collector({ answer: () => status });
    const { log, lines } = listen();
    const tracing = await startTracing({ service: "checkin", endpoint: stub.endpoint, log });
    // Full batches are sent without waiting for the timer.
    await workOn(tracing, 512);
    await expect.poll(() => lines.join("")).toContain("traces lost");
    status = 200;
    await workOn(tracing, 512);
    await tracing.shutdown();
    expect(stub.spans()).toHaveLength(512);
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      "traces lost: the collector does not take them",
      "traces delivered again",
    ]);
  });
});

function tracingScript(endpoint: string): string {
  return `
    import { startTracing } from ${JSON.stringify(new URL("./tracing.ts", import.meta.url).href)};
    const tracing = await startTracing({ service: "checkin", endpoint: ${JSON.stringify(endpoint)} });
    for (let count = 0; count < 600; count += 1) await tracing.span("work", {}, async () => {});`;
}

async function run(script: string): Promise<{ output: string; code: number | null; tookMs: number }> {
  const before = performance.now();
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { output, code: child.exitCode, tookMs: performance.now() - before };
}
