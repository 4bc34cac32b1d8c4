import type { Fault } from "@tessera/kit/fault";
import { type Turn, Turns } from "@tessera/kit/waiting/turns";
import { fault } from "../faults.ts";
import type { Context } from "../http/context.ts";
import { hasBody, readBytes } from "./read-bytes.ts";

/** Reads the whole body of a request into memory. */
export type ReadBody = (ctx: Context, limits: { readonly maxBytes: number }) => Promise<Buffer>;

/**
 * A body of this size takes no share: the number of connections limits them, and an ordinary scan never waits for the
 * large bodies of others.
 */
export const freeBytes = 64 * 1024;

/** Parsed, a body is several times as large. */
const mostBytes = 64 * 1024 * 1024;

/** Common clients and proxies wait longer for an answer. */
const usualWaitMs = 10_000;

export interface BodyBudget {
  /** A whole body must arrive within this time. */
  readonly maxMs: number;
  /** How many bytes all large bodies may have together. */
  readonly total?: number;
  /** How long a request waits for the bodies of others. */
  readonly waitMs?: number;
}

/**
 * Makes what reads bodies: all of them together take so much memory, and those of one organizer half of it. Of one
 * organizer one large body is parsed at a time, because parsing delays all other requests.
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
    return bytes;
  };
}

/** What was made of a body lasts as long as its request, which may have ended at the moment when its turn began. */
function endWith(closed: AbortSignal, turn: Turn): void {
  if (closed.aborted) turn.end();
  else closed.addEventListener("abort", () => turn.end());
}

/** What the head of a request says of its size; undefined: it says nothing. */
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
