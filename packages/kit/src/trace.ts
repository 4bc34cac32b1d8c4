import type { Context as ParentContext } from "@opentelemetry/api";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { currentContext, parseTraceparent, runInContext } from "./context.ts";
import { Fault, type FaultKind } from "./fault.ts";
import type { Log } from "./log.ts";
import { waitAtMost } from "./wait-at-most.ts";

/** What tells spans of one name apart. Chosen by hand: nothing secret, nothing personal. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Tracing {
  /** Runs work as a span: a child of the span in the context, and the parent of what the work does and calls. */
  span<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>;
  /** Delivers what is left, for at most five seconds; never throws. */
  shutdown(): Promise<void>;
}

export interface TracingOptions {
  readonly service: string;
  /** Where a collector takes OTLP over HTTP, for instance `http://collector:4318`. Without one, nothing is traced. */
  readonly endpoint?: string | undefined;
  /** The part of all traces that is kept. It goes by the trace's id, so every process keeps the same ones. */
  readonly sampleRatio?: number;
  /** Told once when traces stop being delivered, and once when they are again. */
  readonly log?: Log;
}

const off: Tracing = { span: (_name, _attributes, work) => work(), shutdown: async () => {} };

/** A collector answers in milliseconds. Waiting longer, retries included, would only keep more memory for it. */
const longestSendMs = 3000;
/** The exporter's own limit is on silence; this one is on an answer that trickles. */
const longestExportMs = 4000;
const longestShutdownMs = 5000;

/** Starts to send traces to a collector; without an endpoint, the tracing that it returns only runs the work. */
export async function startTracing({ service, endpoint, sampleRatio = 1, log }: TracingOptions): Promise<Tracing> {
  if (endpoint === undefined) return off;
  // Loaded only now: whoever does not trace pays neither the time nor the memory.
  const [api, sdk, resources, otlp] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/exporter-trace-otlp-http"),
  ]);
  const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  const exporter = reporting(new otlp.OTLPTraceExporter({ url, timeoutMillis: longestSendMs }), log);
  const ratio = new sdk.TraceIdRatioBasedSampler(sampleRatio);
  const provider = new sdk.TracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ "service.name": service }))
      // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, with which clusters name pods.
      .merge(
        resources.detectResources({
          detectors: [resources.serviceNameEnvDetector, resources.resourceAttributesEnvDetector],
        }),
      ),
    sampler: new sdk.ParentBasedSampler({ root: ratio, remoteParentSampled: ratio }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("tessera");

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

  return {
    async span(name, attributes, work) {
      const around = currentContext();
      const span = tracer.startSpan(name, { attributes }, parentOf(around.traceparent));
      const { traceId, spanId, traceFlags } = span.spanContext();
      const flags = (traceFlags & api.TraceFlags.SAMPLED) === 0 ? "00" : "01";
      try {
        return await runInContext({ ...around, traceparent: `00-${traceId}-${spanId}-${flags}` }, work);
      } catch (error) {
        if (error instanceof Fault) span.setAttribute("fault.code", error.code);
        if (isOurFailure(error)) span.setStatus({ code: api.SpanStatusCode.ERROR, message: explain(error) });
        throw error;
      } finally {
        span.end();
      }
    },
    async shutdown() {
      const end = async () => {
        await provider.shutdown().catch(() => {});
        // The provider leaves the exporter open when the last delivery fails.
        await exporter.shutdown();
      };
      // What cannot be delivered by now is lost; the exporter has told the log why.
      await waitAtMost(longestShutdownMs, end(), () => new Error("traces not delivered in time")).catch(() => {});
    },
  };
}

/** Kinds that the caller could not have avoided. The others are answers, as good as any. */
const ourKinds: ReadonlySet<FaultKind> = new Set(["exhausted", "unavailable", "timeout"]);

function isOurFailure(error: unknown): boolean {
  return !(error instanceof Fault) || ourKinds.has(error.kind);
}

/** The message of anything but a Fault may quote data that traces must not hold. */
function explain(error: unknown): string {
  if (error instanceof Fault) return error.message;
  return error instanceof Error ? error.name : typeof error;
}

type ExportResult = Parameters<Parameters<SpanExporter["export"]>[1]>[0];

/** As OpenTelemetry numbers the results of an export. */
const [delivered, lost] = [0, 1];

/** Bounds each delivery, and lets the log know of a collector that is away, once. */
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
