import { Fault } from "@tessera/kit/fault";
import { connect, implement } from "@tessera/kit/rpc";
import type { Log } from "@tessera/kit/telemetry/log";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import { transportContract } from "@tessera/testkit/transport-contract";
import { describe, expect, it } from "vitest";
import { inProcess } from "./in-process.ts";

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, with: () => silent };

transportContract(
  "in process",
  async (implementations, watch) => {
    const registry = inProcess(watch);
    const server = registry.serve("peer", implementations);
    return { transport: registry.transportTo("peer"), close: () => server.stop(5000) };
  },
  { toMissing: () => inProcess({ log: silent }).transportTo("nobody") },
);

const facts = implement(FactsServiceService, {
  markFacts: async () => ({ marker: "m", partitions: [] }),
  caughtUp: async () => ({ caughtUp: true }),
});

describe("inProcess", () => {
  it("lets calls wait for a service that begins later", async () => {
    const registry = inProcess({ log: silent });
    const client = connect(FactsServiceService, registry.transportTo("late"));
    const calls = Promise.all([client.markFacts({}), client.markFacts({})]);
    registry.serve("late", [facts]);
    expect(await calls).toEqual(Array(2).fill({ marker: "m", partitions: [] }));
  });

  it("refuses calls of a stopped service at once, until it is served again", async () => {
    const registry = inProcess({ log: silent });
    const client = connect(FactsServiceService, registry.transportTo("peer"));
    const server = registry.serve("peer", [facts]);
    await server.stop(1000);
    const before = Date.now();
    await expect(client.markFacts({}, { timeoutMs: 20_000 })).rejects.toMatchObject({ kind: "unavailable" });
    expect(Date.now() - before).toBeLessThan(10_000);
    registry.serve("peer", [facts]);
    expect(await client.markFacts({})).toEqual({ marker: "m", partitions: [] });
    // Another server has this name now.
    await server.stop(1000);
    expect(await client.markFacts({})).toEqual({ marker: "m", partitions: [] });
  });

  it("begins no work for a caller that has gone in the same turn", async () => {
    const registry = inProcess({ log: silent });
    let begun = 0;
    registry.serve("peer", [
      implement(FactsServiceService, {
        markFacts: async () => {
          begun += 1;
          return { marker: "m", partitions: [] };
        },
        caughtUp: async () => ({ caughtUp: true }),
      }),
    ]);
    const client = connect(FactsServiceService, registry.transportTo("peer"));
    const gone = new AbortController();
    const call = client.markFacts({}, { signal: gone.signal });
    gone.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    await client.markFacts({});
    expect(begun).toBe(1);
  });

  it("gives up on calls under way after the grace period", async () => {
    const registry = inProcess({ log: silent });
    const client = connect(FactsServiceService, registry.transportTo("peer"));
    const aborted = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const server = registry.serve("peer", [
      implement(FactsServiceService, {
        markFacts: (_request, { signal }) => {
          signal.addEventListener("abort", () => aborted.resolve());
          begun.resolve();
          return new Promise(() => {});
        },
        caughtUp: async () => ({ caughtUp: true }),
      }),
    ]);
    const call = client.markFacts({}).catch((error: unknown) => error);
    await begun.promise;
    await server.stop(30);
    await aborted.promise;
    expect(await call).toMatchObject({ kind: "unavailable" });
    expect(await call).toBeInstanceOf(Fault);
  });

  it("ends every call when it is closed", async () => {
    const registry = inProcess({ log: silent });
    const begun = Promise.withResolvers<void>();
    registry.serve("peer", [
      implement(FactsServiceService, {
        markFacts: () => {
          begun.resolve();
          return new Promise(() => {});
        },
        caughtUp: async () => ({ caughtUp: true }),
      }),
    ]);
    const peer = connect(FactsServiceService, registry.transportTo("peer"));
    const nobody = connect(FactsServiceService, registry.transportTo("nobody"));
    const calls = Promise.allSettled([peer.markFacts({}), nobody.markFacts({})]);
    await begun.promise;
    const before = Date.now();
    await registry.close();
    const later = await Promise.allSettled([peer.markFacts({}), nobody.markFacts({})]);
    expect([...(await calls), ...later]).toEqual(
      Array(4).fill({ status: "rejected", reason: expect.objectContaining({ kind: "unavailable" }) }),
    );
    // No call waited for its deadline of thirty seconds.
    expect(Date.now() - before).toBeLessThan(10_000);
  });

  it("refuses a second service of the same name and a second handler of the same method", () => {
    const registry = inProcess({ log: silent });
    registry.serve("peer", [facts]);
    expect(() => registry.serve("peer", [facts])).toThrow("peer is served already");
    expect(() => registry.serve("other", [facts, facts])).toThrow(
      "/platform.v1.FactsService/MarkFacts has two handlers",
    );
  });

  it("does not run calls that waited in vain", async () => {
    const registry = inProcess({ log: silent });
    const client = connect(FactsServiceService, registry.transportTo("late"));
    await Promise.allSettled(Array.from({ length: 50 }, () => client.markFacts({}, { timeoutMs: 30 })));
    let handled = 0;
    registry.serve("late", [
      implement(FactsServiceService, {
        markFacts: async () => {
          handled += 1;
          return { marker: "m", partitions: [] };
        },
        caughtUp: async () => ({ caughtUp: true }),
      }),
    ]);
    await client.markFacts({});
    expect(handled).toBe(1);
  });
});
