import type { IncomingMessage } from "node:http";
import type { Fault } from "@tessera/kit/fault";
import { fault } from "../faults.ts";

export interface BodyLimits {
  readonly maxBytes: number;
  /** A whole body must arrive within this time. */
  readonly maxMs: number;
}

/** The client disconnected before its request was complete: no answer can reach it. */
class ClientDisconnected extends Error {
  override readonly name = "ClientDisconnected";
}

const nothing = Buffer.alloc(0);

/** Reads a whole body into memory, within limits. */
export function readBytes(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  if (!hasBody(request)) return Promise.resolve(nothing);
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > limits.maxBytes) return discard(request).then(() => Promise.reject(tooLarge(limits.maxBytes)));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => finish(() => reject(tooSlow(limits.maxMs))), limits.maxMs);
    const unsubscribe = subscribe(request, {
      onData(chunk) {
        size += chunk.length;
        chunks.push(chunk);
        if (size > limits.maxBytes) {
          finish(() => void discard(request).then(() => reject(tooLarge(limits.maxBytes)), reject));
        }
      },
      onEnd: () => finish(() => resolve(chunks.length === 1 ? (chunks[0] ?? nothing) : Buffer.concat(chunks, size))),
      onDisconnect: () =>
        finish(() => reject(new ClientDisconnected("the client disconnected while it sent its body"))),
    });

    function finish(then: () => void): void {
      clearTimeout(timer);
      unsubscribe();
      then();
    }
  });
}

interface BodyListener {
  onData(chunk: Buffer): void;
  onEnd(): void;
  onDisconnect(): void;
}

/** Listens to a body until the returned function is called. */
function subscribe(request: IncomingMessage, { onData, onEnd, onDisconnect }: BodyListener): () => void {
  const listeners = [
    ["data", onData],
    ["end", onEnd],
    ["close", onDisconnect],
    ["error", onDisconnect],
  ] as const;
  for (const [event, listener] of listeners) request.on(event, listener);
  return () => {
    for (const [event, listener] of listeners) request.off(event, listener);
  };
}

/** Tells whether a request has a body, as its headers say. */
export function hasBody(request: IncomingMessage): boolean {
  if (request.headers["transfer-encoding"] !== undefined) return true;
  const { "content-length": length } = request.headers;
  return length !== undefined && length !== "0";
}

/** How much of a refused body is read and dropped, and for how long, so that the client reads the refusal instead of a reset connection. */
const discardBytes = 4 * 1024 * 1024;
const discardMs = 1000;

/** Reads and drops the rest of a body, within bounds. Beyond them the connection is closed. */
export function discard(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let size = 0;
    const done = () => {
      clearTimeout(timer);
      unsubscribe();
      request.pause();
      resolve();
    };
    const timer = setTimeout(done, discardMs);
    const unsubscribe = subscribe(request, {
      onData(chunk) {
        size += chunk.length;
        if (size > discardBytes) done();
      },
      onEnd: done,
      onDisconnect: done,
    });
  });
}

function tooLarge(maxBytes: number): Fault {
  return fault("body_too_large", `The body is larger than the ${maxBytes} bytes allowed.`);
}

function tooSlow(maxMs: number): Fault {
  return fault("body_too_slow", `The body did not arrive within ${Math.round(maxMs / 1000)} seconds.`);
}
