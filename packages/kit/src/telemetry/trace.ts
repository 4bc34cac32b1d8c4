import { currentContext } from "../context.ts";

/** The data of a span. Chosen by hand: no ids, no secrets, no personal data. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** The side of a call or message that a span is about. */
export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

export interface SpanOptions {
  /** By default internal. */
  readonly kind?: SpanKind;
  readonly attributes?: SpanAttributes;
}

/** A span under way. */
export interface Span {
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks it as failed, though its work throws nothing. The type is a code or the name of an error. */
  fail(type: string): void;
}

/** The spans of a service, named and described by the semantic conventions of OpenTelemetry. */
export interface Tracing {
  /** False: spans have no effect, and hot paths leave them out. */
  readonly isOn: boolean;
  /** Runs work as a span: a child of the span in the context, and the parent of spans within the work. */
  span<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
}

export interface ProcessTracing extends Tracing {
  of(service: string): Tracing;
  /** Delivers the remaining spans within five seconds; never throws. */
  shutdown(): Promise<void>;
}

const noSpan: Span = { rename() {}, set() {}, fail() {} };

/** Runs the work without a span. */
export const untraced: ProcessTracing = {
  isOn: false,
  span: (_name, _options, work) => work(noSpan),
  of: () => untraced,
  shutdown: async () => {},
};

/** Runs work as a span if it is part of a trace. Work that nothing asked for, such as looking for facts, begins none. */
export function spanWithin<T>(
  tracing: Tracing,
  name: string,
  options: SpanOptions,
  work: () => Promise<T>,
): Promise<T> {
  return currentContext().traceparent === undefined ? work() : tracing.span(name, options, work);
}
