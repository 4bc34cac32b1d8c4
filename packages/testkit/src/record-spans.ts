import { childTraceparent, currentContext, runInContext } from "@tessera/kit/context";
import type { SpanAttributes, SpanKind, Tracing } from "@tessera/kit/telemetry/trace";

export interface RecordedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: SpanAttributes;
  /** Why it failed. */
  readonly failure?: string;
  /** The traceparent of its work, and that around it. */
  readonly traceparent: string;
  readonly parent: string | undefined;
}

/** Tracing that records spans when they begin. */
export function recordSpans(): { readonly tracing: Tracing; readonly spans: RecordedSpan[] } {
  const spans: RecordedSpan[] = [];
  const tracing: Tracing = {
    isOn: true,
    span(name, { kind = "internal", attributes = {} }, work) {
      const around = currentContext();
      const traceparent = childTraceparent(around.traceparent);
      const index = spans.push({ name, kind, attributes, traceparent, parent: around.traceparent }) - 1;
      const change = (changes: (span: RecordedSpan) => Partial<RecordedSpan>) => {
        const span = spans[index];
        if (span !== undefined) spans[index] = { ...span, ...changes(span) };
      };
      const span = {
        rename: (other: string) => change(() => ({ name: other })),
        set: (more: SpanAttributes) => change((now) => ({ attributes: { ...now.attributes, ...more } })),
        fail: (failure: string) => change(() => ({ failure })),
      };
      return runInContext({ ...around, traceparent }, () => work(span));
    },
  };
  return { tracing, spans };
}
