import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { listen } from "@tessera/kit/listen";
import type { Log } from "@tessera/kit/log";
import type { Server } from "@tessera/kit/service";

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly log: Log;
}

export interface HttpServer extends Server {
  /** The port it listens on; known once it has started. */
  port(): number;
  /** Aborts when it stops to accept requests. */
  readonly stopping: AbortSignal;
  /** What answers; set before it starts. */
  answerWith(listener: RequestListener): void;
}

/** Cookies play no part here, so headers are small; a signed ticket secret in the path has a few hundred bytes. */
const maxHeaderBytes = 16 * 1024;

/** A header trickles in no slower than this, or its connection is closed. */
const headersTimeoutMs = 15_000;

/** Longer than the idle time of common proxies (60 s), which otherwise send a request into a closing connection. */
const keepAliveMs = 75_000;

/** What is under way when the process stops is given this long. */
const stopMs = 10_000;

/** So long a connection without a request is kept when the process stops: the next request may be on its way already. */
const lingerMs = 500;

/** Makes the server that faces clients. */
export function httpServer({ host, port, log }: HttpServerOptions): HttpServer {
  const stopping = new AbortController();
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    // Bodies have their own limits: an import may take hours.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: 5000,
  });
  // Browsers and probes open connections ahead of need; to the server these count as busy.
  const unused = new Set<Socket>();
  server.on("connection", (socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  server.on("request", ({ socket }) => unused.delete(socket));
  let closed: Promise<void> | undefined;

  /** Accepts no more connections; resolves when the last one has ended. */
  function close(): Promise<void> {
    // Unlike the close of HTTP servers, this one leaves connections alone that are between two requests.
    closed ??= new Promise((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
    return closed;
  }

  function closeUnneeded(): void {
    server.closeIdleConnections();
    for (const socket of unused) socket.destroy();
  }

  return {
    name: "http",
    port: () => (server.address() as AddressInfo | null)?.port ?? port,
    stopping: stopping.signal,
    answerWith: (listener) => void server.on("request", listener),
    async start() {
      await listen(server, { host, port, purpose: "REST" });
      server.on("error", (error) => log.error("HTTP server failed", { error }));
      log.info("gateway accepts requests", { host, port: (server.address() as AddressInfo).port });
    },
    async drain() {
      stopping.abort();
      await Promise.race([close(), sleep(lingerMs, undefined, { ref: false })]);
      // What a busy process has not read yet is read in between: a connection with a request is needed.
      await nextTurn();
      await nextTurn();
      closeUnneeded();
    },
    async stop() {
      stopping.abort();
      const ended = close();
      closeUnneeded();
      const timer = setTimeout(() => server.closeAllConnections(), stopMs);
      await ended;
      clearTimeout(timer);
      // What it would have done itself, had it been closed as usual.
      server.close();
    },
  };
}
