import { once } from "node:events";
import { request } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "@tessera/kit/fault";
import { createHealth, type Health } from "@tessera/kit/service/health";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics, type Metrics } from "@tessera/kit/telemetry/metrics";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type OperationsServer, serveOperations } from "./operations-server.ts";

const open: OperationsServer[] = [];
const lines: string[] = [];
const log = createLog({ service: "checkin", destination: { write: (line) => lines.push(line) } });

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
  lines.length = 0;
});

async function serve({
  health = createHealth(),
  metrics = createMetrics(),
  host = "127.0.0.1",
  port = 0,
}: {
  health?: Health;
  metrics?: Metrics;
  host?: string;
  port?: number;
} = {}) {
  const server = await serveOperations({ host, port, health, metrics, log });
  open.push(server);
  return {
    health,
    metrics,
    port: server.port,
    close: () => server.close(),
    get: (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init),
  };
}

/** Sends raw bytes and gives everything that comes back until the other side ends. */
async function converse(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  socket.on("error", () => {});
  const parts: Buffer[] = [];
  socket.on("data", (part) => parts.push(part));
  await once(socket, "close");
  return Buffer.concat(parts).toString();
}

describe("/livez", () => {
  it("asks nothing but the event loop", async () => {
    const { get, health } = await serve();
    health.dependency("database", () => new Promise(() => {}));
    const response = await get("/livez");
    expect([response.status, await response.text()]).toEqual([200, "ok\n"]);
    health.draining();
    expect((await get("/livez")).status).toBe(200);
  });
});

describe("/startupz", () => {
  it("turns once", async () => {
    const { get, health } = await serve();
    expect((await get("/startupz")).status).toBe(503);
    health.startedUp();
    expect((await get("/startupz")).status).toBe(200);
    health.draining();
    expect((await get("/startupz")).status).toBe(200);
  });
});

describe("/readyz", () => {
  it("says in JSON whether to send requests, and what is away", async () => {
    const { get, health } = await serve();
    let away = false;
    health.dependency("database", async () => {
      if (away) throw new Fault("unavailable", "database_unavailable", "the database cannot be reached");
    });
    const starting = await get("/readyz");
    expect([starting.status, await starting.json()]).toEqual([
      503,
      { ready: false, stage: "starting", dependencies: { database: "ok" } },
    ]);
    health.startedUp();
    await new Promise((resolve) => setTimeout(resolve, 1050));
    away = true;
    const lost = await get("/readyz");
    expect(lost.headers.get("content-type")).toBe("application/json");
    expect(lost.headers.get("cache-control")).toBe("no-store");
    expect([lost.status, await lost.json()]).toEqual([
      503,
      { ready: false, stage: "serving", dependencies: { database: "the database cannot be reached" } },
    ]);
    away = false;
    const back = await get("/readyz?verbose=1");
    expect([back.status, await back.json()]).toEqual([
      200,
      { ready: true, stage: "serving", dependencies: { database: "ok" } },
    ]);
  });
});

describe("/metrics", () => {
  it("gives all of them", async () => {
    const { get, metrics } = await serve();
    metrics.counter("scans_total", "Scans.", ["outcome"]).add({ outcome: "admitted 🎪" });
    const response = await get("/metrics");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await response.text();
    expect(text).toContain('tessera_scans_total{outcome="admitted 🎪"} 1\n');
    expect(text).toContain("nodejs_eventloop_lag_seconds");
  });

  it("that cannot be given is an error without its reason, which is logged", async () => {
    const { get } = await serve({
      metrics: { ...createMetrics(), exposition: () => Promise.reject(new Error("hunter2")) },
    });
    const response = await get("/metrics");
    expect([response.status, await response.text()]).toEqual([500, "internal error\n"]);
    expect(lines.join("")).toContain("operations page broken");
  });
});

describe("anything else", () => {
  it.each([
    "/",
    "/livez/",
    "/LIVEZ",
    "/metrics/x",
    "/..%2flivez",
    "/%6civez",
    "//livez",
    "/constructor",
    "/__proto__",
    "/?a=/livez",
  ])("at %s is not there", async (path) => {
    const { get } = await serve();
    const response = await get(path);
    expect([response.status, await response.text()]).toEqual([404, "only /livez, /readyz, /startupz, /metrics\n"]);
  });

  it.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("than GET and HEAD, as %s, is refused", async (method) => {
    const { get } = await serve();
    const response = await get("/livez", { method, ...(method === "OPTIONS" ? {} : { body: "x" }) });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
  });

  it("than text: HEAD gives the head alone", async () => {
    const { port } = await serve();
    const answer = await converse(port, "HEAD /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toMatch(/\r\nContent-Length: 3\r\n/);
    expect(answer).toMatch(/\r\n\r\n$/);
  });
});

describe("hostile input", () => {
  it("with a large head is refused", async () => {
    const { port } = await serve();
    expect(await converse(port, `GET /livez HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
  });

  it("that is no HTTP is refused", async () => {
    const { port } = await serve();
    expect(await converse(port, "\u0016\u0003\u0001 hello\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("with a body is answered without reading it, and the connection ends", async () => {
    const { port } = await serve();
    const answer = await converse(port, "GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n");
    // Who waited for the body would answer 408 when its time is over.
    expect(answer.match(/^HTTP\/1\.1 .*$/gm)).toEqual(["HTTP/1.1 200 OK"]);
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
  });

  it("that never ends its head is cut off", async () => {
    const { port } = await serve();
    expect(await converse(port, "GET /livez HTTP/1.1\r\nHost: a\r\n")).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("asking for another protocol gets the page", async () => {
    const { port } = await serve();
    const answer = await converse(
      port,
      "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

describe("listening", () => {
  it("on a port that is taken is a Fault that says what to do", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const refused = await serve({ port }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Fault);
    expect(refused).toMatchObject({
      kind: "unmet",
      code: "port_in_use",
      message: `port ${port} on 127.0.0.1 is taken by another process; stop that one or set another port for operations`,
    });
    other.close();
    await once(other, "close");
    expect((await serve({ port })).port).toBe(port);
  });

  it("on an address of another machine is a Fault too", async () => {
    await expect(serve({ host: "192.0.2.1" })).rejects.toMatchObject({ kind: "unmet", code: "address_unavailable" });
  });
});

describe("close", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it("ends idle connections at once, and may be called again", async () => {
    const { port, close } = await serve();
    const idle = connect(port, "127.0.0.1");
    await once(idle, "connect");
    idle.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(idle, "data");
    await Promise.all([close(), close()]);
    await close();
    await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow("fetch failed");
  });

  it("lets an answer under way finish", async () => {
    const answer = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    const exposition = () => {
      begun.resolve();
      return answer.promise;
    };
    const { get, close } = await serve({ metrics: { ...createMetrics(), exposition } });
    const asked = get("/metrics");
    await begun.promise;
    const closed: string[] = [];
    const closing = ["first", "second"].map((call) => close().then(() => closed.push(call)));
    await sleep(50);
    expect(closed).toEqual([]);
    answer.resolve("late 1\n");
    expect(await (await asked).text()).toBe("late 1\n");
    await Promise.all(closing);
  });

  it("waits a second for it and no longer", async () => {
    const begun = Promise.withResolvers<void>();
    const exposition = () => {
      begun.resolve();
      return new Promise<string>(() => {});
    };
    const { port, close } = await serve({ metrics: { ...createMetrics(), exposition } });
    const asked = request({ port, host: "127.0.0.1", path: "/metrics" }).end();
    const cut = once(asked, "error");
    await begun.promise;
    let isClosed = false;
    const closing = close().then(() => (isClosed = true));
    vi.advanceTimersByTime(999);
    await sleep(50);
    expect(isClosed).toBe(false);
    vi.advanceTimersByTime(1);
    await Promise.all([closing, cut]);
  });
});
