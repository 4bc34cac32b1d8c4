import { AsyncLocalStorage } from "node:async_hooks";
import { isUuid } from "@tessera/values";

/** What travels with a piece of work through everything it awaits, and on to the peers it calls. */
export interface Context {
  /** W3C trace context: the span this work is part of. */
  readonly traceparent?: string;
  /** Milliseconds since 1970 after which nobody waits for the result any more. */
  readonly deadline?: number;
  /** Aborts when nobody waits for the result any more: at the deadline, or when the caller has gone. */
  readonly signal?: AbortSignal;
  /** A UUID by which a request is known again when it is repeated, because its answer was lost on the way. */
  readonly requestId?: string;
}

const storage = new AsyncLocalStorage<Context>();
const none: Context = {};

/** Runs work in a context, replacing the one it is called in. */
export function runInContext<T>(context: Context, work: () => T): T {
  return storage.run(context, work);
}

/** Returns the context of the work under way; an empty one outside any. */
export function currentContext(): Context {
  return storage.getStore() ?? none;
}

/** Tells whether what a caller sent may be the id of a request. */
export function isRequestId(received: string | undefined): received is string {
  return received !== undefined && isUuid(received);
}

/** Later versions may append fields, which a reader of version 00 leaves away; ff is no version. */
const pattern = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** A trace header is a few dozen characters; a longer one is somebody's attack on our logs. */
const longest = 512;

const sampled = "01";

/** The parts of a trace id; undefined for what is none. */
export function parseTraceparent(
  traceparent: string | undefined,
): { readonly trace: string; readonly span: string; readonly flags: string } | undefined {
  if (traceparent === undefined || traceparent.length > longest) return undefined;
  const [, trace, span, flags] = pattern.exec(traceparent) ?? [];
  // Version 00 has exactly four fields.
  if (trace === undefined || span === undefined || flags === undefined) return undefined;
  return traceparent.startsWith("00-") && traceparent.length !== 55 ? undefined : { trace, span, flags };
}

/** Makes the id for the next hop: a new span of the same trace, or of a new trace where there is none. */
export function childTraceparent(parent: string | undefined): string {
  const { trace = randomHex(16), flags = sampled } = parseTraceparent(parent) ?? {};
  return `00-${trace}-${randomHex(8)}-${flags}`;
}

/** Takes over an id that came from outside; one that is missing or malformed becomes the root of a new trace. */
export function acceptTraceparent(received: string | undefined): string {
  const parts = parseTraceparent(received);
  return parts === undefined ? childTraceparent(undefined) : `00-${parts.trace}-${parts.span}-${parts.flags}`;
}

/** Ids tell spans apart and guard nothing, so they need not come from the system's slow source. */
function randomHex(bytes: number): string {
  let hex = "";
  while (hex.length < bytes * 2) {
    hex += Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  }
  return /[^0]/.test(hex) ? hex : randomHex(bytes);
}
