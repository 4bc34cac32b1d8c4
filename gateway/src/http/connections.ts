import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";

/** No client or proxy pipelines this many requests. Node starts each of them at once. */
const mostAhead = 8;

/**
 * How long such a connection is held open without being read. Node parses everything that it has read, whatever happens
 * to the connection, and a client released at once would send the next thousand requests.
 */
const heldMs = 1000;

/** The interval of log lines about closed connections. */
const reportMs = 60_000;

interface Connection {
  /** Answers that have not been sent yet. */
  readonly underWay: Set<ServerResponse>;
  /** The number of bytes read when the last answer was sent. Further bytes belong to another request. */
  readUpTo: number;
  /** The client pipelined too many requests, and gets no more answers. */
  isHeld: boolean;
}

export interface ConnectionsOptions {
  /** The limit of open connections. Each takes a file descriptor, and the process needs some for itself. */
  readonly most: number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * The connections of clients, within limits.
 *
 * A connection beyond the limit closes the one that has been idle longest; if none is idle, the new one is closed. A
 * connection whose client pipelines too many requests gets no more answers, and is closed soon.
 */
export class Connections {
  /** The most recently used connections are last. */
  readonly #open = new Map<Socket, Connection>();
  readonly #options: ConnectionsOptions;
  readonly #closed;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #leaving = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#closed = metrics.counter(
      "http_connections_closed_total",
      "Connections of clients that were closed by limits.",
      ["reason"],
    );
    metrics.gauge("http_connections", "Open connections of clients.", () => this.#open.size);
    metrics.gauge("http_connections_limit", "How many connections of clients may be open.", () => options.most);
  }

  add(socket: Socket): void {
    const underWay: Connection["underWay"] = new Set();
    this.#open.set(socket, { underWay, readUpTo: 0, isHeld: false });
    socket.once("close", () => {
      this.#open.delete(socket);
      // Node emits `close` only on the answer being sent, not on those queued after it.
      for (const response of [...underWay]) {
        response.destroy();
        response.emit("close");
      }
    });
    if (this.#open.size > this.#options.most) this.#makeRoom(socket);
  }

  /** Counts a request until its answer is sent. Returns false if the request must not be answered. */
  begin(socket: Socket, response: ServerResponse): boolean {
    const connection = this.#open.get(socket);
    // Node may parse requests of a connection that is closed already.
    if (connection === undefined || socket.destroyed || connection.isHeld) return false;
    const { underWay } = connection;
    if (underWay.size === mostAhead) {
      connection.isHeld = true;
      socket.pause();
      setTimeout(() => this.#close(socket, "pipelining"), heldMs).unref();
      return false;
    }
    underWay.add(response);
    response.once("close", () => {
      underWay.delete(response);
      connection.readUpTo = socket.bytesRead;
      if (underWay.size > 0 || !this.#open.delete(socket)) return;
      this.#open.set(socket, connection);
      // This answer began before the shutdown, so it has no `Connection: close`.
      if (this.#leaving) socket.destroySoon();
    });
    return true;
  }

  /** Closes a stalled connection, unless a request is being processed. */
  closeStalled(socket: Socket): void {
    if (this.#underWay(socket).size === 0) socket.destroy();
    // While a request is processed, its handler has limits of its own, for the body or for a service.
    else if (socket.writableLength > 0) this.#close(socket, "stalled");
  }

  /** Whether an error can still be answered: no other answer has begun or is due before it. */
  canAnswer(socket: Socket): boolean {
    const [first, ...more] = this.#underWay(socket);
    return socket.writable && more.length === 0 && first?.headersSent !== true;
  }

  /** Closes connections without a request, with a part of one, or with the rest of an answer, now and from now on. */
  closeUnneeded(): void {
    this.#leaving = true;
    for (const [socket, { underWay, readUpTo }] of this.#open) {
      if (underWay.size === 0 && socket.bytesRead === readUpTo) socket.destroy();
    }
  }

  #underWay(socket: Socket): ReadonlySet<ServerResponse> {
    return this.#open.get(socket)?.underWay ?? new Set();
  }

  #makeRoom(latest: Socket): void {
    for (const [socket, { underWay }] of this.#open) {
      if (underWay.size > 0) continue;
      this.#close(socket, socket === latest ? "refused" : "room");
      break;
    }
    const now = performance.now();
    if (now - this.#reportedAt < reportMs) return;
    this.#reportedAt = now;
    const { log, most } = this.#options;
    log.warn("more clients are connected than allowed; idle connections are closed", { most });
  }

  #close(socket: Socket, reason: "pipelining" | "refused" | "room" | "stalled"): void {
    if (socket.destroyed) return;
    // Not on the `close` event: other events may precede it.
    if (this.#underWay(socket).size === 0) this.#open.delete(socket);
    this.#closed.add({ reason });
    socket.destroy();
  }
}
