import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";

/** No client and no proxy sends so many requests ahead of their answers. Node starts each of them at once. */
const mostAhead = 8;

/**
 * For so long such a connection stays open, and nothing of it is read. Node parses everything that it has read at once,
 * whatever happens to the connection; a client that was let go at once would send the next thousand requests.
 */
const heldMs = 1000;

/** The log says at most this often that connections had to be closed. */
const reportMs = 60_000;

interface Connection {
  /** The answers that have not yet been sent. */
  readonly underWay: Set<ServerResponse>;
  /** How many bytes had been read when the last answer was sent. Further bytes belong to another request. */
  readUpTo: number;
  /** It sent too many requests ahead, and gets no more answers. */
  isHeld: boolean;
}

export interface ConnectionsOptions {
  /** How many may be open. Each takes a file descriptor, and the process needs some for itself. */
  readonly most: number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * The connections of clients, within limits.
 *
 * One that is too many closes the one that has been idle for the longest time; if none is idle, it is closed itself. A
 * connection whose client sends too many requests ahead gets no more answers, and is closed soon.
 */
export class Connections {
  /** Those that have just been used come last. */
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
      // Node tells this only to the answer that is being sent, and not to those behind it.
      for (const response of [...underWay]) {
        response.destroy();
        response.emit("close");
      }
    });
    if (this.#open.size > this.#options.most) this.#makeRoom(socket);
  }

  /** Counts a request until its answer has been sent. Returns false if it must not be answered. */
  begin(socket: Socket, response: ServerResponse): boolean {
    const connection = this.#open.get(socket);
    // Node has parsed what a closed connection had sent.
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
      // This answer began before the process was to stop, so it has no `Connection: close`.
      if (this.#leaving) socket.destroySoon();
    });
    return true;
  }

  /** Closes a connection on which nothing has moved for a while, unless a request is being processed. */
  closeStalled(socket: Socket): void {
    if (this.#underWay(socket).size === 0) socket.destroy();
    // Otherwise its handler has limits of its own: it waits for the rest of a body, or for a service.
    else if (socket.writableLength > 0) this.#close(socket, "stalled");
  }

  /** Whether an error can still be answered: no other answer has begun, and none is expected before it. */
  canAnswer(socket: Socket): boolean {
    const [first, ...more] = this.#underWay(socket);
    return socket.writable && more.length === 0 && first?.headersSent !== true;
  }

  /** Closes connections without a request, a part of one, or the rest of an answer, now and from now on. */
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
    // Not with its `close` event: others may come before that.
    if (this.#underWay(socket).size === 0) this.#open.delete(socket);
    this.#closed.add({ reason });
    socket.destroy();
  }
}
