import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "@tessera/kit/fault";
import type { Server } from "@tessera/kit/service";
import { listen } from "@tessera/kit/service/listen";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import { fault } from "../faults.ts";
import { Connections } from "./connections.ts";
import { connectionsWithin, mostOpenFiles } from "./descriptors.ts";
import { answerUnread, explainUnread } from "./refuse-unread.ts";

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The limit of client connections, at most what file descriptors allow, which is the default. */
  readonly mostConnections?: number;
  /** How long a client may neither read nor send. */
  readonly stalledMs?: number;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface HttpServer extends Server {
  /** The port; known after the start. */
  port(): number;
  /** Whether the server is shutting down, and clients should reconnect elsewhere. */
  isLeaving(): boolean;
  /** Aborts when the server stops accepting requests. */
  readonly stopping: AbortSignal;
  answerWith(listener: RequestListener): void;
}

/** Headers are small without cookies; a signed ticket secret in the path has a few hundred bytes. */
const maxHeaderBytes = 16 * 1024;

/** If headers take longer to arrive, the connection is closed. */
const headersTimeoutMs = 15_000;

/** Longer than the idle timeout of common proxies (60 s), which otherwise send a request into a closing connection. */
const keepAliveMs = 75_000;

/** How much of a body is parsed before the handler reads it. In the smallest chunks each byte costs microseconds. */
const aheadBytes = 8 * 1024;

/** A client that reads nothing for this long is gone. Bodies have limits of their own. */
const usualStalledMs = 60_000;

/** Requests in progress have this long to finish at shutdown. */
const stopMs = 10_000;

/** At shutdown an idle connection stays open for this long: its next request may be under way. */
const lingerMs = 500;

/** Bytes that arrive in one turn of the event loop are read in the next; on a busy machine a turn takes long. */
const quickTurnMs = 5;
const longestCatchUpMs = 1000;

/**
 * Makes the server for clients, with a graceful shutdown of its own: http-terminator and `server.close()` close
 * connections between two requests, and those with a partly received request. Here such requests are answered.
 */
export function httpServer({
  host,
  port,
  mostConnections = Number.POSITIVE_INFINITY,
  stalledMs = usualStalledMs,
  log,
  metrics,
}: HttpServerOptions): HttpServer {
  const stopping = new AbortController();
  let isLeaving = false;
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    // Bodies have limits of their own: an import may take hours.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    highWaterMark: aheadBytes,
    connectionsCheckingInterval: 5000,
    // The application refuses such a request like others.
    requireHostHeader: false,
  });
  const mostFiles = mostOpenFiles();
  const most = Math.min(mostConnections, mostFiles === undefined ? mostConnections : connectionsWithin(mostFiles));
  const connections = new Connections({ most, log, metrics });
  let answer: RequestListener = () => {};
  server.on("connection", (socket) => connections.add(socket));
  server.on("request", (request, response) => {
    if (connections.begin(request.socket, response)) answer(request, response);
  });
  server.setTimeout(stalledMs, (socket) => connections.closeStalled(socket));
  const refuse = (socket: Socket, problem: Fault) => {
    if (connections.canAnswer(socket)) answerUnread(socket, problem);
    else socket.destroy();
  };
  // Only TCP connections get here.
  server.on("clientError", (error, socket) => refuse(socket as Socket, explainUnread(error)));
  server.on("checkExpectation", ({ socket }) => {
    refuse(socket, fault("expectation_unmet", "Of the header Expect only `100-continue` is supported."));
  });
  let closed: Promise<void> | undefined;

  /** Accepts no more connections; resolves when the last one has ended. */
  function close(): Promise<void> {
    // `close` of HTTP servers would also close connections between two requests.
    closed ??= new Promise((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
    return closed;
  }

  return {
    name: "http",
    port: () => (server.address() as AddressInfo | null)?.port ?? port,
    isLeaving: () => isLeaving,
    stopping: stopping.signal,
    answerWith(listener) {
      answer = listener;
    },
    async start() {
      await listen(server, { host, port, purpose: "REST" });
      server.on("error", (error) => log.error("HTTP server failed", { error }));
      log.info("gateway accepts requests", {
        host,
        port: (server.address() as AddressInfo).port,
        mostConnections: most,
        mostFiles,
      });
    },
    leave() {
      isLeaving = true;
    },
    async drain() {
      isLeaving = true;
      stopping.abort();
      // To close the listener would reset connections that wait to be accepted.
      await catchUp();
      await Promise.race([close(), sleep(lingerMs, undefined, { ref: false })]);
      // A busy process may not have read a request that has arrived.
      await catchUp();
      connections.closeUnneeded();
    },
    async stop() {
      isLeaving = true;
      stopping.abort();
      const ended = close();
      connections.closeUnneeded();
      const timer = setTimeout(() => server.closeAllConnections(), stopMs);
      await ended;
      clearTimeout(timer);
      // Stops the timer that checks connections, which still runs after the sockets are closed.
      server.close();
    },
  };
}

/** Accepts and reads what has arrived, until a turn is so short that hardly anything can have arrived during it. */
async function catchUp(): Promise<void> {
  const until = performance.now() + longestCatchUpMs;
  for (let turns = 1; ; turns += 1) {
    const begun = performance.now();
    await nextTurn();
    const now = performance.now();
    if (turns > 1 && (now - begun < quickTurnMs || now > until)) return;
  }
}
