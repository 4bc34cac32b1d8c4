import type { IncomingMessage } from "node:http";
import type { Fault } from "@tessera/kit/fault";
import { fault } from "../faults.ts";

export interface BodyLimits {
  readonly maxBytes: number;
  /** A whole body must arrive within this time. */
  readonly maxMs: number;
}

/** Each piece costs as much as some hundred bytes. The smallest that networks send are larger, but for the first and the last. */
const smallestPiece = 16;
const freePieces = 1000;

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
    const arrived = new Arrived();
    const timer = setTimeout(() => finish(() => reject(tooSlow(limits.maxMs))), limits.maxMs);
    const unsubscribe = subscribe(request, {
      onData(chunk) {
        if (arrived.size + chunk.length > limits.maxBytes) refuse(tooLarge(limits.maxBytes));
        else arrived.add(chunk, limits.maxBytes);
        if (isCrumbled(arrived)) refuse(fault("malformed_body", "The body comes in too many small pieces."));
      },
      onEnd: () => finish(() => resolve(arrived.bytes())),
      onDisconnect: () =>
        finish(() => reject(new ClientDisconnected("the client disconnected while it sent its body"))),
    });

    function refuse(problem: Fault): void {
      finish(() => void discard(request).then(() => reject(problem), reject));
    }

    function finish(then: () => void): void {
      clearTimeout(timer);
      unsubscribe();
      then();
    }
  });
}

/** What has arrived of a body, in one buffer. A piece on its own would keep the whole buffer that it was read into. */
class Arrived {
  size = 0;
  pieces = 0;
  #buffer: Buffer = nothing;

  add(chunk: Buffer, most: number): void {
    this.pieces += 1;
    const size = this.size + chunk.length;
    // Most bodies are one piece, which need not be copied.
    if (this.pieces === 1) this.#buffer = chunk;
    else {
      if (size > this.#buffer.length || this.pieces === 2) {
        const larger = Buffer.allocUnsafeSlow(Math.min(most, Math.max(size, 2 * this.size)));
        this.#buffer.copy(larger, 0, 0, this.size);
        this.#buffer = larger;
      }
      chunk.copy(this.#buffer, this.size);
    }
    this.size = size;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.size);
  }
}

/** Whether a body comes in so many pieces that they cost more than its bytes. */
function isCrumbled({ pieces, size }: { readonly pieces: number; readonly size: number }): boolean {
  return pieces > freePieces + size / smallestPiece;
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

/** Reads and drops a body that has not been read; tells whether the connection can be used again. */
export async function finishBody(request: IncomingMessage): Promise<boolean> {
  if (isFinished(request)) return true;
  await discard(request);
  return isFinished(request);
}

/** Tells whether a request has no body, or its body has been read. */
export function isFinished(request: IncomingMessage): boolean {
  return (request.complete && !givenUp.has(request)) || !hasBody(request);
}

/** How much of a refused body is read and dropped, and for how long, so that the client reads the refusal instead of a reset connection. */
const discardBytes = 4 * 1024 * 1024;
const discardMs = 1000;

/** Bodies that are dropped come no faster than 50 MB a second: the bytes of two senders would keep others waiting. */
const bytesAtOnce = 256 * 1024;
const restMs = 5;

/** Of these the socket is paused: whatever has arrived of them, no other request comes on their connection. */
const givenUp = new WeakSet<IncomingMessage>();

/** Reads and drops the rest of a body, within bounds. Beyond them the connection is closed. */
function discard(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed || givenUp.has(request)) return Promise.resolve();
  return new Promise((resolve) => {
    let size = 0;
    let pieces = 0;
    let rested = 0;
    let rest: NodeJS.Timeout | undefined;
    const done = () => {
      clearTimeout(timer);
      clearTimeout(rest);
      unsubscribe();
      resolve();
    };
    const giveUp = () => {
      givenUp.add(request);
      request.pause();
      // Otherwise what arrives is still parsed into pieces, until they fill the buffer of the request.
      request.socket.pause();
    };
    const timer = setTimeout(() => {
      giveUp();
      done();
    }, discardMs);
    const unsubscribe = subscribe(request, {
      onData(chunk) {
        size += chunk.length;
        pieces += 1;
        // Such a client waits for its answer: it would only send the next body.
        if (size > discardBytes || isCrumbled({ pieces, size })) giveUp();
        else if (size - rested > bytesAtOnce) {
          rested += bytesAtOnce;
          request.pause();
          rest = setTimeout(() => request.resume(), restMs);
        }
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
