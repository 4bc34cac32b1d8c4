import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { isUuid } from "@tessera/values";

/** Belongs to a piece of work. All that it awaits has it, and it travels to the peers that it calls. */
export interface Context {
  /** W3C trace context: the span that this work is part of. */
  readonly traceparent?: string;
  /** Milliseconds since 1970: after it the caller no longer waits. */
  readonly deadline?: number;
  /** Aborts when the caller no longer waits: at the deadline, or when it cancels. */
  readonly signal?: AbortSignal;
  /** A UUID that a repeated request keeps, for instance when its answer was lost. */
  readonly requestId?: string;
}

const storage = new AsyncLocalStorage<Context>();
const none: Context = {};

/** Runs work in a context, which replaces the current one. */
export function runInContext<T>(context: Context, work: () => T): T {
  return storage.run(context, work);
}

/** The context of the work under way; outside of any it is empty. */
export function currentContext(): Context {
  return storage.getStore() ?? none;
}

/** Whether a caller sent a valid request id. */
export function isRequestId(received: string | undefined): received is string {
  return received !== undefined && isUuid(received);
}

/** Later versions may append fields, which a reader of version 00 ignores. ff is no version. */
const pattern = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** A trace header has a few dozen characters. A longer one is an attack on the logs. */
const longest = 512;

const sampled = "01";

/** The parts of a traceparent; undefined when it is malformed. */
export function parseTraceparent(
  traceparent: string | undefined,
): { readonly trace: string; readonly span: string; readonly flags: string } | undefined {
  if (traceparent === undefined || traceparent.length > longest) return undefined;
  const [, trace, span, flags] = pattern.exec(traceparent) ?? [];
  // Version 00 has exactly four fields.
  if (trace === undefined || span === undefined || flags === undefined) return undefined;
  return traceparent.startsWith("00-") && traceparent.length !== 55 ? undefined : { trace, span, flags };
}

/** Makes the traceparent of the next call: a new span of the same trace, or of a new trace without a parent. */
export function childTraceparent(parent: string | undefined): string {
  const digits = randomUUID().replaceAll("-", "");
  const { trace = digits, flags = sampled } = parseTraceparent(parent) ?? {};
  // The last digits of a UUID are never all zero.
  return `00-${trace}-${digits.slice(16)}-${flags}`;
}

/** Copies a traceparent that came from outside. When it is missing or malformed, a new trace begins. */
export function acceptTraceparent(received: string | undefined): string {
  const parts = parseTraceparent(received);
  return parts === undefined ? childTraceparent(undefined) : `00-${parts.trace}-${parts.span}-${parts.flags}`;
}
