import { createHash } from "node:crypto";
import { createServer, connect as dial, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, credentials, Metadata, type MethodDefinition, type ServiceError, status } from "@grpc/grpc-js";
import { currentContext } from "@tessera/kit/context";
import { Fault } from "@tessera/kit/fault";
import { type Call, connect, type Handlers, implement } from "@tessera/kit/rpc";
import type { Log } from "@tessera/kit/telemetry/log";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import { Records } from "@tessera/protos/services";
import { transportContract } from "@tessera/testkit/transport-contract";
import { service as healthService } from "grpc-health-check";
import { afterEach, describe, expect, it } from "vitest";
import { grpcTransport } from "./client.ts";
import { type GrpcServer, serveGrpc } from "./server.ts";

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, with: () => silent };
const host = "127.0.0.1";

transportContract(
  "gRPC",
  async (implementations, watch) => {
    const server = await serveGrpc({ host, port: 0, implementations, ...watch });
    const transport = grpcTransport({ address: `${host}:${server.port}`, log: silent });
    return { transport, close: () => server.stop(5000) };
  },
  { toMissing: () => grpcTransport({ address: "dns:///nobody.invalid:50051", log: silent }) },
);

type MarkFacts = Handlers<typeof FactsServiceService>["markFacts"];

describe("gRPC", () => {
  const cleanUps: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });

  async function serve(
    markFacts: MarkFacts,
    options: Partial<Parameters<typeof serveGrpc>[0]> = {},
  ): Promise<GrpcServer> {
    const facts = implement(FactsServiceService, { markFacts, caughtUp: async () => ({ caughtUp: true }) });
    const server = await serveGrpc({ host, port: 0, implementations: [facts], log: silent, ...options });
    cleanUps.push(() => server.stop(0));
    return server;
  }

  function clientOf(address: string, log = silent) {
    const transport = grpcTransport({ address, log });
    cleanUps.push(() => transport.close());
    return connect(FactsServiceService, transport);
  }

  it("[S11.14] answers any bytes with success or as invalid, without an error in the log and with one warning", async () => {
    const lines: { level: string; message: string }[] = [];
    const at = (level: string) => (message: string) => lines.push({ level, message });
    const log: Log = { ...silent, error: at("error"), warn: at("warn"), with: () => log };
    const server = await serve(async () => ({ marker: "", partitions: [] }), { log });
    const client = new Client(`${host}:${server.port}`, credentials.createInsecure());
    cleanUps.push(() => client.close());
    const { path } = FactsServiceService.caughtUp;
    const answers = new Set<number>();
    for (let call = 0; call < 200; call += 1) {
      const bytes = createHash("sha256")
        .update(`message ${call}`)
        .digest()
        .subarray(0, call % 33);
      const code = await new Promise<number>((resolve) => {
        client.makeUnaryRequest(
          path,
          () => bytes,
          (answer) => answer,
          {},
          (error) => resolve(error?.code ?? status.OK),
        );
      });
      answers.add(code);
    }
    expect(answers).toEqual(new Set([status.OK, status.INVALID_ARGUMENT]));
    expect(lines).toEqual([{ level: "warn", message: "unreadable request" }]);
  });

  /** A proxy that loses connections. */
  async function relayTo(port: number) {
    const sockets = new Set<Socket>();
    let accepted = 0;
    const relay = createServer((inner) => {
      accepted += 1;
      const outer = dial(port, host);
      for (const socket of [inner, outer]) {
        sockets.add(socket);
        socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      }
      inner.pipe(outer).pipe(inner);
    });
    await new Promise<void>((resolve) => relay.listen(0, host, resolve));
    const lose = (how: (socket: Socket) => void) => {
      for (const socket of sockets) how(socket);
    };
    cleanUps.push(() => {
      relay.close();
      lose((socket) => socket.destroy());
    });
    const bound = relay.address();
    return {
      address: `${host}:${typeof bound === "object" && bound !== null ? bound.port : 0}`,
      lose,
      accepted: () => accepted,
    };
  }

  const answer: MarkFacts = async () => ({ marker: "m", partitions: [] });
  const named =
    (marker: string): MarkFacts =>
    async () => ({ marker, partitions: [] });

  describe("health", () => {
    it("answers per service and turns NOT_SERVING before calls are refused", async () => {
      const server = await serve(answer);
      const raw = rawClient(server.port);
      const client = clientOf(`${host}:${server.port}`);
      expect(await raw.health("")).toBe("SERVING");
      expect(await raw.health("platform.v1.FactsService")).toBe("SERVING");
      expect(await raw.health("nobody")).toBe(status.NOT_FOUND);
      server.drain();
      expect(await raw.health("")).toBe("NOT_SERVING");
      expect(await raw.health("platform.v1.FactsService")).toBe("NOT_SERVING");
      expect(await client.markFacts({})).toEqual({ marker: "m", partitions: [] });
    });

    it("tells those who watch, also when it stops without a drain", async () => {
      const server = await serve(answer);
      const seen = rawClient(server.port).watchHealth("");
      await expect.poll(() => seen).toEqual(["SERVING"]);
      await server.stop(100);
      await expect.poll(() => seen).toEqual(["SERVING", "NOT_SERVING"]);
    });
  });

  describe("server", () => {
    it.each(["v1", "v1alpha"])("[S8.6] describes itself to no caller by grpc.reflection.%s", async (version) => {
      const { port } = await serve(answer);
      const client = new Client(`${host}:${port}`, credentials.createInsecure());
      cleanUps.push(() => client.close());
      const asIs = (bytes: Buffer) => bytes;
      const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
      const call = client.makeBidiStreamRequest(path, asIs, asIs);
      const told: Buffer[] = [];
      const ended = new Promise<ServiceError>((resolve) => call.on("error", resolve));
      call.on("data", (bytes: Buffer) => told.push(bytes));
      // ServerReflectionRequest { list_services: "*" }
      call.write(Buffer.from([0x3a, 0x01, 0x2a]));
      expect((await ended).code).toBe(status.UNIMPLEMENTED);
      expect(told).toEqual([]);
    });

    it("gives up on calls under way after the grace period", async () => {
      const begun = Promise.withResolvers<void>();
      const aborted = Promise.withResolvers<void>();
      const server = await serve((_request, { signal }) => {
        signal.addEventListener("abort", () => aborted.resolve());
        begun.resolve();
        return new Promise(() => {});
      });
      const call = clientOf(`${host}:${server.port}`)
        .markFacts({}, { timeoutMs: 20_000 })
        .catch((error: unknown) => error);
      await begun.promise;
      const before = Date.now();
      await Promise.all([server.stop(50), server.stop(50)]);
      // Long before the call would have ended by itself.
      expect(Date.now() - before).toBeLessThan(10_000);
      await aborted.promise;
      expect(await call).toMatchObject({ name: "Fault", kind: "unavailable" });
    });

    it("refuses a message beyond its own limit without a hang", async () => {
      const records = implement(Records, {
        applyRecords: async () => ({ rejected: [] }),
        validateRecords: async () => ({ outcome: undefined, brought: [] }),
      });
      const server = await serve(answer, { implementations: [records], maxMessageBytes: 1000 });
      const transport = grpcTransport({ address: `${host}:${server.port}`, log: silent });
      cleanUps.push(() => transport.close());
      const client = connect(Records, transport);
      const record = { line: 1, kind: "", organizer: "", event: "", deleted: false, data: new Uint8Array(10_000_000) };
      await expect(client.applyRecords({ records: [record] })).rejects.toMatchObject({
        name: "Fault",
        kind: "exhausted",
      });
      expect(await client.applyRecords({ records: [] })).toEqual({ rejected: [] });
    });

    it("sets a deadline for callers that have none, and a trace for those whose header is broken", async () => {
      let call: Call | undefined;
      let traceparent: string | undefined;
      const server = await serve(async (_request, arrived) => {
        call = arrived;
        traceparent = currentContext().traceparent;
        return { marker: "m", partitions: [] };
      });
      const before = Date.now();
      await rawClient(server.port).markFacts({ traceparent: "00-zz" });
      expect(call?.deadline).toBeGreaterThanOrEqual(before + 30_000);
      expect(call?.deadline).toBeLessThanOrEqual(Date.now() + 30_000);
      expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    });

    it("says which address is taken", async () => {
      const { port } = await serve(answer);
      await expect(serve(answer, { port })).rejects.toThrow(`cannot listen for gRPC on 127.0.0.1:${port}`);
    });

    it("loses no call when connections reach their age", async () => {
      const server = await serve(answer, { ageMs: 40 });
      const relay = await relayTo(server.port);
      const client = clientOf(relay.address);
      const failures: unknown[] = [];
      let answered = 0;
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          while (answered <= 50 || relay.accepted() <= 2) {
            await client.markFacts({}).then(
              () => (answered += 1),
              (error: unknown) => failures.push(error),
            );
          }
        }),
      );
      expect(failures).toEqual([]);
    });
  });

  describe("client", () => {
    it("waits within the deadline for a peer that starts later", async () => {
      const { port, stop } = await serve(answer);
      await stop(0);
      const call = clientOf(`${host}:${port}`).markFacts({}, { timeoutMs: 20_000 });
      await sleep(150);
      await serve(answer, { port });
      expect(await call).toEqual({ marker: "m", partitions: [] });
    });

    it("meets a restarted peer again and logs the outage once", async () => {
      const lines: string[] = [];
      const log: Log = { ...silent, warn: (message) => lines.push(message) };
      const first = await serve(named("first"));
      const client = clientOf(`dns:///localhost:${first.port}`, log);
      expect((await client.markFacts({})).marker).toBe("first");
      await first.stop(1000);
      for (let i = 0; i < 3; i += 1) {
        await expect(client.markFacts({}, { timeoutMs: 100 })).rejects.toMatchObject({ kind: "unavailable" });
      }
      await serve(named("second"), { port: first.port });
      expect((await client.markFacts({})).marker).toBe("second");
      expect(lines).toEqual(["peer cannot be reached", "peer can be reached again"]);
    });

    it.each([
      ["closed", (socket: Socket) => socket.destroy()],
      ["reset", (socket: Socket) => socket.resetAndDestroy()],
    ] as const)("reports a connection %s under a call as unavailable, and connects again", async (_how, lose) => {
      const aborted = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      let calls = 0;
      const server = await serve((_request, { signal }) => {
        calls += 1;
        if (calls > 1) return Promise.resolve({ marker: "again", partitions: [] });
        signal.addEventListener("abort", () => aborted.resolve());
        begun.resolve();
        return new Promise(() => {});
      });
      const relay = await relayTo(server.port);
      const client = clientOf(relay.address);
      const call = client.markFacts({}, { timeoutMs: 8000 }).catch((error: unknown) => error);
      await begun.promise;
      relay.lose(lose);
      expect(await call).toMatchObject({ name: "Fault", kind: "unavailable", code: "peer_unavailable" });
      await aborted.promise;
      expect((await client.markFacts({})).marker).toBe("again");
      // A call that had begun was not repeated.
      expect(calls).toBe(2);
    });

    it("goes round all addresses, and loses no call when one of them stops", async () => {
      const [one, two] = await Promise.all([serve(named("one")), serve(named("two"))]);
      const client = clientOf(`ipv4:${host}:${one.port},${host}:${two.port}`);
      const count = { one: 0, two: 0, failed: 0 };
      let stopped = false;
      const callers = Promise.all(
        Array.from({ length: 8 }, async () => {
          while (!stopped) {
            const { marker } = await client.markFacts({}).catch((error: unknown) => {
              if (!(error instanceof Fault)) throw error;
              return { marker: "failed" };
            });
            count[marker as keyof typeof count] += 1;
          }
        }),
      );
      await expect.poll(() => Math.min(count.one, count.two)).toBeGreaterThan(10);
      await one.stop(1000);
      const { two: before } = count;
      await expect.poll(() => count.two).toBeGreaterThan(before + 10);
      stopped = true;
      await callers;
      expect(count.failed).toBe(0);
    });
  });

  /** A plain gRPC client: no deadline, no trace. */
  function rawClient(port: number) {
    const client = new Client(`${host}:${port}`, credentials.createInsecure());
    cleanUps.push(() => client.close());
    const unary = <Request, Response>(
      method: MethodDefinition<Request, Response>,
      request: Request,
      headers: Record<string, string>,
    ) =>
      new Promise<Response>((resolve, reject) => {
        const metadata = new Metadata();
        for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
        client.makeUnaryRequest(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          request,
          metadata,
          (error: ServiceError | null, response?: Response) => {
            if (error !== null) reject(error);
            else if (response !== undefined) resolve(response);
          },
        );
      });
    const healthMethod = (name: string) => {
      const method = healthService[name];
      if (method === undefined) throw new Error(`grpc.health.v1 has no ${name}`);
      return method;
    };
    return {
      markFacts: (headers: Record<string, string>) => unary(FactsServiceService.markFacts, {}, headers),
      health: async (service: string): Promise<unknown> => {
        try {
          const response = await unary<object, object>(healthMethod("Check"), { service }, {});
          return "status" in response ? response.status : undefined;
        } catch (error) {
          return (error as ServiceError).code;
        }
      },
      watchHealth: (service: string): unknown[] => {
        const seen: unknown[] = [];
        const { path, requestSerialize, responseDeserialize } = healthMethod("Watch");
        client
          .makeServerStreamRequest(path, requestSerialize, responseDeserialize, { service })
          .on("data", ({ status: reported }: { status: string }) => seen.push(reported))
          .on("error", () => {});
        return seen;
      },
    };
  }
});
