import type { Context as ParentContext, Tracer } from "@opentelemetry/api";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { currentContext, parseTraceparent, runInContext } from "@tessera/kit/context";
import { Fault, type FaultKind } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/telemetry/log";
import { type ProcessTracing, type SpanKind, type Tracing, untraced } from "@tessera/kit/telemetry/trace";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";

export interface TracingOptions {
  readonly service: string;
  /** The URL of a collector for OTLP over HTTP, for instance `http://collector:4318`. Without one, nothing is traced. */
  readonly endpoint?: string | undefined;
  /** Gets one line when the delivery of traces stops, and one when it works again. */
  readonly log?: Log;
}

/** A collector answers in milliseconds. A longer wait, retries included, would only use more memory. */
const longestSendMs = 3000;
/** The exporter limits the time without data. This limits an answer that arrives too slowly. */
const longestExportMs = 4000;
const longestShutdownMs = 5000;

/** Starts to send traces to a collector. Without an endpoint it returns `untraced`. */
export async function startTracing({ service, endpoint, log }: TracingOptions): Promise<ProcessTracing> {
  if (endpoint === undefined) return untraced;
  // Loaded only here: a process without tracing spends neither the time nor the memory.
  const [api, sdk, resources, otlp] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/exporter-trace-otlp-http"),
  ]);
  const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  const exporter = reporting(new otlp.OTLPTraceExporter({ url, timeoutMillis: longestSendMs }), log);
  const processor = new sdk.BatchSpanProcessor({ exporter });
  /** A resource is one service, so each service of the process has a provider; they share the queue of spans. */
  const tracerOf = (name: string) =>
    new sdk.TracerProvider({
      resource: resources
        .defaultResource()
        .merge(resources.resourceFromAttributes({ "service.name": name }))
        // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES: clusters name pods by them.
        .merge(
          resources.detectResources({
            detectors: [resources.serviceNameEnvDetector, resources.resourceAttributesEnvDetector],
          }),
        ),
      spanProcessors: [processor],
    }).getTracer("tessera");
  const kinds: Readonly<Record<SpanKind, number>> = {
    internal: api.SpanKind.INTERNAL,
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    producer: api.SpanKind.PRODUCER,
    consumer: api.SpanKind.CONSUMER,
  };

  const parentOf = (traceparent: string | undefined): ParentContext => {
    const parent = parseTraceparent(traceparent);
    if (parent === undefined) return api.ROOT_CONTEXT;
    return api.trace.setSpanContext(api.ROOT_CONTEXT, {
      traceId: parent.trace,
      spanId: parent.span,
      traceFlags: Number.parseInt(parent.flags, 16),
      isRemote: true,
    });
  };

  const tracingOf = (tracer: Tracer): Tracing => ({
    isOn: true,
    async span(name, { kind = "internal", attributes = {} }, work) {
      const around = currentContext();
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, parentOf(around.traceparent));
      const fail = (type: string, message?: string) => {
        span.setAttribute("error.type", type);
        span.setStatus({ code: api.SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
      };
      const { traceId, spanId, traceFlags } = span.spanContext();
      const flags = (traceFlags & api.TraceFlags.SAMPLED) === 0 ? "00" : "01";
      try {
        return await runInContext({ ...around, traceparent: `00-${traceId}-${spanId}-${flags}` }, () =>
          work({
            rename: (other) => void span.updateName(other),
            set: (more) => void span.setAttributes(more),
            fail,
          }),
        );
      } catch (error) {
        if (error instanceof Fault) span.setAttribute("tessera.fault.code", error.code);
        if (isOurFailure(error)) fail(typeOf(error), explain(error));
        // To its caller, every refused call has failed. Its message may quote what was sent.
        else if (kind === "client") fail(typeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
  });

  return {
    ...tracingOf(tracerOf(service)),
    of: (name) => tracingOf(tracerOf(name)),
    async shutdown() {
      const end = async () => {
        await processor.shutdown().catch(() => {});
        // The processor does not close the exporter when the last delivery fails.
        await exporter.shutdown();
      };
      // Spans that are not delivered by now are lost; the exporter has logged why.
      await waitAtMost(longestShutdownMs, end(), () => new Error("traces not delivered in time")).catch(() => {});
    },
  };
}

/** Kinds that the caller could not have avoided. The other kinds are ordinary answers. */
const ourKinds: ReadonlySet<FaultKind> = new Set(["exhausted", "unavailable", "timeout"]);

function isOurFailure(error: unknown): boolean {
  return !(error instanceof Fault) || ourKinds.has(error.kind);
}

/** The class of an error: a code of ours, or of the database, else its name. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** Only the message of a Fault is free of data that traces must not contain. */
function explain(error: unknown): string {
  if (error instanceof Fault) return error.message;
  return error instanceof Error ? error.name : typeof error;
}

type ExportResult = Parameters<Parameters<SpanExporter["export"]>[1]>[0];

/** OpenTelemetry's codes for the result of an export. */
const [delivered, lost] = [0, 1];

/** Limits the time of each delivery, and logs an outage of the collector once. */
function reporting(exporter: SpanExporter, log: Log | undefined): SpanExporter {
  let failing = false;
  const note = (result: ExportResult) => {
    const failed = result.code !== delivered;
    if (failed && !failing) log?.warn("traces lost: the collector does not take them", { error: result.error });
    if (!failed && failing) log?.info("traces delivered again");
    failing = failed;
  };
  return {
    export(spans, conclude) {
      const sent = new Promise<ExportResult>((resolve) => {
        exporter.export(spans, resolve);
      });
      void waitAtMost(longestExportMs, sent, () => new Error("the collector does not end its answer"))
        .catch((error: Error): ExportResult => ({ code: lost, error }))
        .then((result) => {
          note(result);
          conclude(result);
        });
    },
    shutdown: () => exporter.shutdown(),
  };
}
