import type { Implementation, Transport } from "../rpc.ts";
import { type SpanKind, type SpanOptions, spanWithin, type Tracing } from "./trace.ts";

/** Makes every call that is served a span of the trace that its caller sent. */
export function traceServed(tracing: Tracing, implementations: readonly Implementation[]): readonly Implementation[] {
  if (!tracing.isOn) return implementations;
  return implementations.map(({ definition, handlers }) => {
    const traced = Object.entries(handlers).map(([name, handler]): [string, typeof handler] => {
      const { span, options } = describeCall(definition[name]?.path ?? name, "server");
      return [name, (request, call) => tracing.span(span, options, () => handler(request, call))];
    });
    return { definition, handlers: Object.fromEntries(traced) };
  });
}

/** Makes every call to a peer a span of the trace that it belongs to. */
export function tracePlaced(tracing: Tracing, transport: Transport): Transport {
  if (!tracing.isOn) return transport;
  return {
    call(method, request, options) {
      const described = describeCall(method.path, "client");
      return spanWithin(tracing, described.span, described.options, () => transport.call(method, request, options));
    },
    close: () => transport.close(),
  };
}

/** A path is `/package.Service/Method`. */
function describeCall(path: string, kind: SpanKind): { readonly span: string; readonly options: SpanOptions } {
  const span = path.replace(/^\//, "");
  const [service = "", method = ""] = span.split("/");
  return {
    span,
    options: { kind, attributes: { "rpc.system": "grpc", "rpc.service": service, "rpc.method": method } },
  };
}
