import { AsyncLocalStorage } from "node:async_hooks";

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

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Tells whether what a caller sent may be the id of a request. */
export function isRequestId(received: string | undefined): received is string {
  return received !== undefined && uuid.test(received);
}

/** Later versions may append fields, which a reader of version 00 leaves away; ff is no version. */
const pattern = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** A trace header is a few dozen characters; a longer one is somebody's attack on our logs. */
const longest = 512;

const sampled = "01";

/** Makes the id for the next hop: a new span of the same trace, or of a new trace where there is none. */
export function childTraceparent(parent: string | undefined): string {
  const [, trace, , flags] = parse(parent) ?? [];
  return `00-${trace ?? randomHex(16)}-${randomHex(8)}-${flags ?? sampled}`;
}

/** Takes over an id that came from outside; one that is missing or malformed becomes the root of a new trace. */
export function acceptTraceparent(received: string | undefined): string {
  const [, trace, span, flags] = parse(received) ?? [];
  return trace === undefined ? childTraceparent(undefined) : `00-${trace}-${span}-${flags}`;
}

function parse(traceparent: string | undefined): RegExpExecArray | null {
  if (traceparent === undefined || traceparent.length > longest) return null;
  const match = pattern.exec(traceparent);
  // Version 00 has exactly four fields.
  return match !== null && traceparent.startsWith("00-") && traceparent.length !== 55 ? null : match;
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
