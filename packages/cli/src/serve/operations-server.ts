import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { constants } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Health } from "@tessera/kit/service/health";
import { listen } from "@tessera/kit/service/listen";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";

export interface OperationsOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly log: Log;
}

export interface OperationsServer {
  readonly port: number;
  close(): Promise<void>;
}

const {
  HTTP_STATUS_OK: ok,
  HTTP_STATUS_NOT_FOUND: notFound,
  HTTP_STATUS_METHOD_NOT_ALLOWED: methodNotAllowed,
  HTTP_STATUS_INTERNAL_SERVER_ERROR: internalError,
  HTTP_STATUS_SERVICE_UNAVAILABLE: unavailable,
} = constants;

/** Far more than probes and scrapers send. Nothing else calls this server. */
const limits = {
  maxHeaderSize: 8192,
  headersTimeout: 2000,
  requestTimeout: 5000,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 1000,
};
const mostConnections = 64;
const mostHeaders = 64;

/** A scrape may finish within this time when the process stops. */
const closeGraceMs = 1000;

/**
 * Serves health and metrics on a port of their own, which customers cannot reach:
 * `/livez` answers as long as the event loop turns, `/readyz` says whether to send requests
 * and which dependency is missing, `/startupz` whether start-up is complete, `/metrics` all metrics.
 */
export async function serveOperations({
  host,
  port,
  health,
  metrics,
  log,
}: OperationsOptions): Promise<OperationsServer> {
  const pages = pagesOf(health, metrics);
  const server = createServer(limits, (request, response) => {
    const broken = (error: unknown): Page => {
      log.error("operations page broken", { path: pathOf(request), error });
      return { status: internalError, body: "internal error\n" };
    };
    void answer(request, pages)
      .catch(broken)
      .then((page) => send(request, response, page, { last: !server.listening }));
  });
  server.maxConnections = mostConnections;
  server.maxHeadersCount = mostHeaders;
  await listen(server, { host, port, purpose: "operations" });
  server.on("error", (error) => log.warn("operations server disturbed", { error }));
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

interface Page {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const okPage: Page = { status: ok, body: "ok\n" };

type Pages = ReadonlyMap<string, () => Page | Promise<Page>>;

function pagesOf(health: Health, metrics: Metrics): Pages {
  return new Map<string, () => Page | Promise<Page>>([
    ["/livez", () => okPage],
    ["/readyz", () => readinessPage(health)],
    // Draining comes after start-up, so it counts as started.
    ["/startupz", () => (health.stage === "starting" ? { status: unavailable, body: "starting\n" } : okPage)],
    [
      "/metrics",
      async () => ({ status: ok, body: await metrics.exposition(), headers: { "Content-Type": metrics.contentType } }),
    ],
  ]);
}

async function readinessPage(health: Health): Promise<Page> {
  const readiness = await health.ready();
  return {
    status: readiness.ready ? ok : unavailable,
    body: `${JSON.stringify(readiness)}\n`,
    headers: { "Content-Type": "application/json" },
  };
}

async function answer(request: IncomingMessage, pages: Pages): Promise<Page> {
  const path = pathOf(request);
  const page = pages.get(path);
  if (page === undefined) return { status: notFound, body: `only ${[...pages.keys()].join(", ")}\n` };
  if (request.method !== "GET" && request.method !== "HEAD") {
    return { status: methodNotAllowed, body: "only GET and HEAD\n", headers: { Allow: "GET, HEAD" } };
  }
  return page();
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").replace(/\?.*$/s, "");
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers = {} }: Page,
  { last }: { last: boolean },
): void {
  if (response.destroyed) return;
  // The body of a request is not read, so the connection ends with the answer.
  const hasBody = request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined;
  response.writeHead(status, {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...(last || hasBody ? { Connection: "close" } : {}),
    ...headers,
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const cut = setTimeout(() => server.closeAllConnections(), closeGraceMs);
  await closed;
  clearTimeout(cut);
}
