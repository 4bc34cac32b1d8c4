import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A span as a collector gets it. */
export interface CollectedSpan {
  readonly service: unknown;
  readonly name: string;
  /** As OTLP numbers them: 2 is a server, 3 a client, 4 a producer, 5 a consumer. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, "attributes"> & { readonly attributes: readonly Attribute[] })[];
    }[];
  }[];
}

/** A collector for OTLP that keeps the spans it gets. */
export async function collectSpans() {
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      for (const { resource, scopeSpans } of (JSON.parse(body) as Sent).resourceSpans) {
        const service = valuesOf(resource.attributes)["service.name"];
        for (const span of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({ ...span, service, attributes: valuesOf(span.attributes) });
      }
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
