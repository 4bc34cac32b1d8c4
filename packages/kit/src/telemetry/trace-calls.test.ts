import { inProcess } from "@tessera/engines/grpc/in-process";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import { recordSpans } from "@tessera/testkit/record-spans";
import { describe, expect, it } from "vitest";
import { runInContext } from "../context.ts";
import { connect, type Implementation, implement } from "../rpc.ts";
import { createLog } from "./log.ts";
import { untraced } from "./trace.ts";
import { tracePlaced, traceServed } from "./trace-calls.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

const facts = implement(FactsServiceService, {
  markFacts: async () => ({ marker: "", partitions: [] }),
  caughtUp: async () => ({ caughtUp: true }),
});

function serve(implementations: readonly Implementation[]) {
  const network = inProcess({ log });
  network.serve("facts", implementations);
  return network.transportTo("facts");
}

describe("a call between services", () => {
  it("is a span of its caller and one of its server, in this order", async () => {
    const { tracing, spans } = recordSpans();
    const transport = tracePlaced(tracing, serve(traceServed(tracing, [facts])));
    await runInContext({ traceparent }, () => connect(FactsServiceService, transport).markFacts({}));
    const attributes = {
      "rpc.system": "grpc",
      "rpc.service": "platform.v1.FactsService",
      "rpc.method": "MarkFacts",
    };
    const name = "platform.v1.FactsService/MarkFacts";
    expect(spans).toEqual([
      expect.objectContaining({ name, kind: "client", attributes, parent: traceparent }),
      expect.objectContaining({ name, kind: "server", attributes, parent: spans[0]?.traceparent }),
    ]);
  });

  it("that belongs to no trace is a span of its server alone", async () => {
    const { tracing, spans } = recordSpans();
    const transport = tracePlaced(tracing, serve(traceServed(tracing, [facts])));
    await connect(FactsServiceService, transport).markFacts({});
    expect(spans.map(({ kind }) => kind)).toEqual(["server"]);
  });

  it("costs nothing while tracing is off", () => {
    const transport = serve([]);
    expect(tracePlaced(untraced, transport)).toBe(transport);
    const implementations = [facts];
    expect(traceServed(untraced, implementations)).toBe(implementations);
  });
});
