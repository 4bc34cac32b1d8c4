import type { Fault } from "@tessera/kit/fault";
import { type Turn, Turns } from "@tessera/kit/waiting/turns";
import { fault } from "../faults.ts";
import type { Context } from "../http/context.ts";
import { hasBody, readBytes } from "./read-bytes.ts";

export type ReadBody = (ctx: Context, limits: { readonly maxBytes: number }) => Promise<Buffer>;

/** Up to this size a body needs no share of the memory, so an ordinary scan never waits for large bodies. */
export const freeBytes = 64 * 1024;

/** A parsed body is several times as large. */
const mostBytes = 64 * 1024 * 1024;

/** Common clients and proxies wait longer for an answer. */
export const usualWaitMs = 10_000;

export interface BodyBudget {
  /** The timeout of a whole body. */
  readonly maxMs: number;
  /** The memory limit for all large bodies. */
  readonly total?: number;
  /** How long a request waits for its share. */
  readonly waitMs?: number;
}

/**
 * Makes the reader of bodies, which limits the memory of all bodies, and of each organizer to half. Large bodies of one
 * organizer are parsed one at a time, because parsing blocks the event loop.
 */
export function bodyReader({ maxMs, total = mostBytes, waitMs = usualWaitMs }: BodyBudget): ReadBody {
  const turns = new Turns({ total, each: total / 2, waitMs, busy });
  const reading = new Turns({ total: Number.POSITIVE_INFINITY, each: 1, waitMs, busy });
  return async (ctx, { maxBytes }) => {
    const { req, res } = ctx;
    const largest = announcedBytes(ctx) ?? maxBytes;
    if (largest <= freeBytes || largest > maxBytes || !hasBody(req)) return readBytes(req, { maxBytes, maxMs });
    const closed = new AbortController();
    res.once("close", () => closed.abort());
    if (res.destroyed) closed.abort();
    const turn = await turns.take({ party: partyOf(ctx), amount: largest, signal: closed.signal });
    endWith(closed.signal, turn);
    const bytes = await readBytes(req, { maxBytes, maxMs });
    turn.resize(bytes.length);
    const own = await reading.take({ party: partyOf(ctx), amount: 1, signal: closed.signal });
    endWith(closed.signal, own);
    ctx.state.endReading = () => own.end();
    return bytes;
  };
}

/** Holds the turn until the request ends, which may have happened already. */
function endWith(closed: AbortSignal, turn: Turn): void {
  if (closed.aborted) turn.end();
  else closed.addEventListener("abort", () => turn.end());
}

/** The announced size of a request; undefined: it announces none. */
function announcedBytes({ req: { headers } }: Context): number | undefined {
  return headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : undefined;
}

/** Who shares the process with others: an organizer. */
export function partyOf({ state: { caller } }: Context): string {
  return caller === undefined || caller.kind === "operator" ? "" : caller.organizer;
}

export function busy(): Fault {
  return fault("bodies_busy", "Too many large bodies are being sent at once. Send this one again soon.", {
    retryAfterMs: 5000,
  });
}
