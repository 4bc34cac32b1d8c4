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
  /** Aborts when it stops accepting requests. */
  readonly stopping: AbortSignal;
  /** Sets the handler of requests; called before the start. */
  answerWith(listener: RequestListener): void;
}

/** Headers are small, because there are no cookies; a signed ticket secret in the path has a few hundred bytes. */
const maxHeaderBytes = 16 * 1024;

/** If a header takes longer to arrive, its connection is closed. */
const headersTimeoutMs = 15_000;

/** Longer than the idle time of common proxies (60 s), which otherwise send a request into a closing connection. */
const keepAliveMs = 75_000;

/** Requests that are under way when the process stops have this long to finish. */
const stopMs = 10_000;

/** When the process stops, an idle connection stays open for this long: its next request may be on its way. */
const lingerMs = 500;

/** Bytes that arrive during a turn of the event loop are read in the next one; on a busy machine a turn takes long. */
const quickTurnMs = 5;
const longestCatchUpMs = 1000;

interface Connection {
  /** Requests whose answers have not yet been sent. */
  underWay: number;
  /** How many bytes had been read when the last answer was sent. Further bytes belong to another request. */
  readUpTo: number;
}

/**
 * Makes the server for clients. It stops in its own way: http-terminator and `server.close()` close connections between
 * two requests, and requests that have arrived only in part. Here those requests are answered.
 */
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
  const connections = new Map<Socket, Connection>();
  server.on("connection", (socket) => {
    connections.set(socket, { underWay: 0, readUpTo: 0 });
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.underWay += 1;
    response.once("close", () => {
      connection.underWay -= 1;
      connection.readUpTo = socket.bytesRead;
      // This answer began before the stop, so it has no `Connection: close`.
      if (leaving && connection.underWay === 0) socket.destroySoon();
    });
  });
  let closed: Promise<void> | undefined;
  let leaving = false;

  /** Accepts no more connections; resolves when the last one has ended. */
  function close(): Promise<void> {
    // `close` of HTTP servers would also close connections between two requests.
    closed ??= new Promise((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
    return closed;
  }

  /** Closes connections without a request, a part of one, or the rest of an answer. */
  function closeUnneeded(): void {
    leaving = true;
    for (const [socket, { underWay, readUpTo }] of connections) {
      if (underWay === 0 && socket.bytesRead === readUpTo) socket.destroy();
    }
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
      // Closing the listener would reset connections that wait to be accepted.
      await catchUp();
      await Promise.race([close(), sleep(lingerMs, undefined, { ref: false })]);
      // A request may have arrived that a busy process has not read yet.
      await catchUp();
      closeUnneeded();
    },
    async stop() {
      stopping.abort();
      const ended = close();
      closeUnneeded();
      const timer = setTimeout(() => server.closeAllConnections(), stopMs);
      await ended;
      clearTimeout(timer);
      // Ends the timer that checks connections, which closing the sockets did not end.
      server.close();
    },
  };
}

/** Accepts and reads what has arrived. Ends with a turn so short that hardly anything can have arrived during it. */
async function catchUp(): Promise<void> {
  const until = performance.now() + longestCatchUpMs;
  for (let turns = 1; ; turns += 1) {
    const begun = performance.now();
    await nextTurn();
    const now = performance.now();
    if (turns > 1 && (now - begun < quickTurnMs || now > until)) return;
  }
}
