import { setTimeout as sleep } from "node:timers/promises";
import type { Observe } from "@tessera/engines/grpc/answer-call";
import { defaultMaxMessageBytes } from "@tessera/engines/grpc/message-size";
import { currentContext, runInContext } from "@tessera/kit/context";
import { Fault, type FaultKind } from "@tessera/kit/fault";
import type { Fields, Log } from "@tessera/kit/log";
import {
  type Call,
  connect,
  type Handlers,
  type Implementation,
  implement,
  type Method,
  type Transport,
} from "@tessera/kit/rpc";
import { type CaughtUpRequest, FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import type { RedeemRequest, RedeemResponse } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type {
  ApplyRecordsRequest,
  ApplyRecordsResponse,
  Record as WireRecord,
} from "@tessera/protos/gen/ticketing/records/v1/records";
import { Records, Scans } from "@tessera/protos/services";
import { afterEach, describe, expect, it, vi } from "vitest";

/** A transport under test with its services. */
export interface Arrangement {
  readonly transport: Transport;
  /** Stops the services gracefully and leaves the transport open. */
  readonly close: () => Promise<void>;
}

/** Collects the reports of the services under test. */
export interface Watch {
  readonly log: Log;
  readonly observe: Observe;
}

interface Line {
  readonly level: "error" | "warn" | "info" | "debug";
  readonly message: string;
  readonly fields: Fields;
}

type ApplyRecords = Handlers<typeof Records>["applyRecords"];
type MarkFacts = Handlers<typeof FactsServiceService>["markFacts"];
type CaughtUp = Handlers<typeof FactsServiceService>["caughtUp"];

const kinds: readonly FaultKind[] = [
  "invalid",
  "unauthenticated",
  "forbidden",
  "not_found",
  "conflict",
  "unmet",
  "exhausted",
  "unavailable",
  "timeout",
];

const secret = "hunter2-correct-horse";

/**
 * Tests the promises of every transport.
 *
 * `makeTransport` serves the implementations and opens the transport to them. `toMissing` opens the transport to a service
 * that does not exist.
 */
export function transportContract(
  name: string,
  makeTransport: (implementations: readonly Implementation[], watch: Watch) => Promise<Arrangement>,
  { toMissing }: { toMissing: () => Transport },
): void {
  describe(`transport contract: ${name}`, () => {
    const cleanUps: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
    });

    async function arrange(implementations: readonly Implementation[]) {
      const lines: Line[] = [];
      const observed: Parameters<Observe>[0][] = [];
      const arrangement = await makeTransport(implementations, {
        log: recordInto(lines),
        observe: (call) => observed.push(call),
      });
      cleanUps.push(async () => {
        await arrangement.close();
        await arrangement.transport.close();
      });
      return { ...arrangement, lines, observed };
    }

    async function records(applyRecords: ApplyRecords) {
      const arrangement = await arrange([implement(Records, { applyRecords })]);
      return { ...arrangement, client: connect(Records, arrangement.transport) };
    }

    async function facts(handlers: { markFacts?: MarkFacts; caughtUp?: CaughtUp }) {
      const idle = async () => ({ caughtUp: true });
      const { transport } = await arrange([
        implement(FactsServiceService, {
          markFacts: handlers.markFacts ?? (async () => ({ marker: "", partitions: [] })),
          caughtUp: handlers.caughtUp ?? idle,
        }),
      ]);
      return connect(FactsServiceService, transport);
    }

    describe("messages", () => {
      it("carries large integers, bytes and Unicode both ways", async () => {
        let received: ApplyRecordsRequest | undefined;
        const { client } = await records(async (request) => {
          received = request;
          return {
            rejected: request.records.map(({ line, kind }) => ({
              line,
              errors: [{ field: kind, messages: [kind, ""] }],
            })),
          };
        });
        const data = Uint8Array.from({ length: 256 }, (_, byte) => byte);
        const sent = [
          record({ line: 2 ** 31, kind: "Zoë 🎫 \u0000 \u202e العربية e\u0301", data }),
          record({ line: Number.MAX_SAFE_INTEGER, kind: "" }),
          record({ line: -1, deleted: true }),
        ];
        const { rejected } = await client.applyRecords({ records: sent });
        expect(received?.records.map((each) => ({ ...each, data: [...each.data] }))).toEqual(
          sent.map((each) => ({ ...each, data: [...each.data] })),
        );
        expect(rejected).toEqual(
          sent.map(({ line, kind }) => ({ line, errors: [{ field: kind, messages: [kind, ""] }] })),
        );
      });

      it("carries empty messages", async () => {
        const { client } = await records(async () => ({ rejected: [] }));
        expect(await client.applyRecords({ records: [] })).toEqual({ rejected: [] });
      });

      it("distinguishes zero and empty from absent", async () => {
        let received: RedeemRequest | undefined;
        const { transport } = await arrange([
          implement(Scans, {
            redeem: async (request) => {
              received = request;
              return { outcomes: [refusal(""), refusal(undefined)] };
            },
          }),
        ]);
        const { outcomes } = await connect(Scans, transport).redeem({
          scans: [scan({ at: 0, nonce: "", gate: 0 }), scan({})],
        });
        expect(received?.scans).toEqual([scan({ at: 0, nonce: "", gate: 0 }), scan({})]);
        expect(outcomes).toEqual([refusal(""), refusal(undefined)]);
      });

      it("delivers copies", async () => {
        let received: Uint8Array | undefined;
        const { client } = await records(async (request) => {
          received = request.records[0]?.data;
          received?.fill(9);
          return { rejected: [] };
        });
        const data = Uint8Array.of(1, 2, 3);
        await client.applyRecords({ records: [record({ data })] });
        expect(received).toHaveLength(3);
        expect([...data]).toEqual([1, 2, 3]);
      });

      it("tolerates enum values and fields it does not know", async () => {
        let received: RedeemRequest | undefined;
        const unknownField = Buffer.from([0xfa, 0x3f, 0x03, 0x61, 0x62, 0x63]); // field 1023, three bytes
        const service = {
          redeem: {
            ...Scans.redeem,
            responseSerialize: (value: RedeemResponse) =>
              Buffer.concat([Scans.redeem.responseSerialize(value), unknownField]),
          },
        };
        const { transport } = await arrange([
          implement(service, {
            redeem: async (request) => {
              received = request;
              return { outcomes: [refusal("known")] };
            },
          }),
        ]);
        const scanOfType99 = Buffer.from([0x0a, 0x02, 0x30, 99]);
        const method: Method<RedeemRequest, RedeemResponse> = {
          ...Scans.redeem,
          requestSerialize: () => Buffer.concat([scanOfType99, unknownField]),
        };
        const response = await transport.call(method, { scans: [] }, {});
        expect(response).toEqual({ outcomes: [refusal("known")] });
        expect(received?.scans.map((each) => each.type)).toEqual(["UNRECOGNIZED"]);
      });

      it("carries four megabytes both ways", async () => {
        const data = new Uint8Array(4 * 1024 * 1024).fill(7);
        const { client } = await records(async (request) => ({
          rejected: [
            { line: request.records[0]?.data.length ?? 0, errors: [{ field: "x".repeat(data.length), messages: [] }] },
          ],
        }));
        const { rejected } = await client.applyRecords({ records: [record({ data })] });
        expect(rejected[0]?.line).toBe(data.length);
        expect(rejected[0]?.errors[0]?.field).toHaveLength(data.length);
      });

      it("refuses a request beyond the limit", async () => {
        let handled = 0;
        const { client } = await records(async () => {
          handled += 1;
          return { rejected: [] };
        });
        const data = new Uint8Array(defaultMaxMessageBytes);
        const fault = await faultOf(client.applyRecords({ records: [record({ data })] }));
        expect(fault).toMatchObject({ kind: "unmet", code: "message_too_large" });
        expect(handled).toBe(0);
        expect(await client.applyRecords({ records: [] })).toEqual({ rejected: [] });
      });

      it("refuses a response beyond the limit", async () => {
        const { client } = await records(async () => ({
          rejected: [{ line: 1, errors: [{ field: "x".repeat(defaultMaxMessageBytes), messages: [] }] }],
        }));
        const fault = await faultOf(client.applyRecords({ records: [] }));
        expect(fault).toMatchObject({ kind: "unmet", code: "message_too_large" });
      });
    });

    describe("errors", () => {
      it.each(kinds)("carries a fault of kind %s", async (kind) => {
        const fields = {
          zulu: ["first", "second"],
          "alpha.0.name": ["Größe 🎫 unzulässig"],
          non_field_errors: ["100 % wrong\n"],
        };
        const { client } = await records(async () => {
          throw new Fault(kind, "some_code", "Größe: 100% 🎫\nsecond line", {
            fields,
            retryAfterMs: 1250,
            cause: new Error(secret),
          });
        });
        const fault = await faultOf(client.applyRecords({ records: [] }));
        expect(fault).toMatchObject({
          kind,
          code: "some_code",
          message: "Größe: 100% 🎫\nsecond line",
          retryAfterMs: 1250,
        });
        expect(fault.fields).toEqual(fields);
        expect(Object.keys(fault.fields ?? {})).toEqual(Object.keys(fields));
        expect(everythingIn(fault)).not.toContain(secret);
      });

      it("carries a fault with nothing but its code", async () => {
        const { client } = await records(async () => {
          throw new Fault("unmet", "not_now", "");
        });
        const fault = await faultOf(client.applyRecords({ records: [] }));
        expect(fault).toMatchObject({
          kind: "unmet",
          code: "not_now",
          message: "",
          fields: undefined,
          retryAfterMs: undefined,
        });
      });

      it("carries a fault with a thousand field errors, and counts those that it left out", async () => {
        const fields = Object.fromEntries(
          Array.from({ length: 1000 }, (_, row) => [`records.${row}`, ["недопустимое значение"]]),
        );
        const { client } = await records(async () => {
          throw new Fault("invalid", "invalid_records", "й".repeat(10_000), { fields });
        });
        const fault = await faultOf(client.applyRecords({ records: [] }));
        expect(fault).toMatchObject({ kind: "invalid", code: "invalid_records" });
        const { non_field_errors: rest, ...kept } = fault.fields ?? {};
        const names = Object.keys(kept);
        expect(names.length).toBeGreaterThan(20);
        expect(names).toEqual(Object.keys(fields).slice(0, names.length));
        expect(rest).toEqual([`and ${1000 - names.length} more`]);
      });

      it.each([
        ["rejects", () => Promise.reject(new TypeError(`cannot read password ${secret}`))],
        [
          "throws",
          () => {
            throw new TypeError(`cannot read password ${secret}`);
          },
        ],
        [
          "rejects with no error",
          async () => {
            AbortSignal.abort(secret).throwIfAborted();
            return { rejected: [] };
          },
        ],
        ["answers with no message", () => Promise.resolve(undefined as unknown as ApplyRecordsResponse)],
      ] as const)(
        "says nothing of a bug: a handler that %s",
        async (_what, handler: () => Promise<ApplyRecordsResponse>) => {
          const { client, lines } = await records(handler);
          const error = await errorOf(client.applyRecords({ records: [] }));
          expect(error).not.toBeInstanceOf(Fault);
          expect(error.message).toBe("internal error in /ticketing.records.v1.RecordsService/ApplyRecords");
          expect(everythingIn(error)).not.toContain(secret);
          expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
        },
      );

      it("treats an unreadable request as a bug", async () => {
        const { transport } = await records(async () => ({ rejected: [] }));
        const beyondExactNumbers = Buffer.from([
          0x0a, 0x0b, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x12, 0x00,
        ]);
        const method = { ...Records.applyRecords, requestSerialize: () => beyondExactNumbers };
        const error = await errorOf(transport.call(method, { records: [] }, {}));
        expect(error).not.toBeInstanceOf(Fault);
        expect(error.message).toBe("internal error in /ticketing.records.v1.RecordsService/ApplyRecords");
      });

      it("names a method that the peer does not implement", async () => {
        const { transport } = await records(async () => ({ rejected: [] }));
        const error = await errorOf(connect(FactsServiceService, transport).markFacts({}));
        expect(error).not.toBeInstanceOf(Fault);
        expect(error.message).toBe("the peer does not implement /platform.v1.FactsService/MarkFacts");
      });
    });

    describe("time", () => {
      it("ends a call at its deadline and aborts the handler", async () => {
        const aborted = Promise.withResolvers<unknown>();
        let call: Call | undefined;
        const { client } = await records((_request, arrived) => {
          call = arrived;
          arrived.signal.addEventListener("abort", () => aborted.resolve(arrived.signal.reason));
          return new Promise(() => {});
        });
        const before = Date.now();
        const failing = faultOf(client.applyRecords({ records: [] }, { timeoutMs: 1000 }));
        const called = Date.now();
        expect(await failing).toMatchObject({ kind: "timeout", code: "deadline_exceeded" });
        expect(Date.now() - before).toBeGreaterThanOrEqual(950);
        expect(Date.now() - before).toBeLessThan(10_000);
        expect(await aborted.promise).toMatchObject({ kind: "timeout" });
        // Shortened by the time for the answer. The time of the request's transport is unknown.
        expect(call?.deadline).toBeLessThanOrEqual(Date.now());
        expect(call?.deadline).toBeGreaterThan(called + 500);
      });

      it("does not begin what cannot be finished", async () => {
        let handled = 0;
        const { client } = await records(async () => {
          handled += 1;
          return { rejected: [] };
        });
        await client.applyRecords({ records: [] });
        expect(await faultOf(client.applyRecords({ records: [] }, { timeoutMs: 15 }))).toMatchObject({
          kind: "timeout",
        });
        expect(await faultOf(client.applyRecords({ records: [] }, { timeoutMs: 0 }))).toMatchObject({
          kind: "timeout",
        });
        const late = runInContext({ deadline: Date.now() - 1 }, () => client.applyRecords({ records: [] }));
        expect(await faultOf(late)).toMatchObject({ kind: "timeout" });
        await sleep(30);
        expect(handled).toBe(1);
      });

      it("waits no longer than the work it is called in", async () => {
        const { client } = await records(() => new Promise(() => {}));
        const before = Date.now();
        const call = runInContext({ deadline: before + 1000 }, () =>
          client.applyRecords({ records: [] }, { timeoutMs: 30_000 }),
        );
        expect(await faultOf(call)).toMatchObject({ kind: "timeout" });
        expect(Date.now() - before).toBeLessThan(10_000);
      });

      it("gives a nested call the rest of the deadline, shortened once more", async () => {
        const deadlines: (number | undefined)[] = [];
        const client = await facts({
          markFacts: async (_request, { deadline }) => {
            deadlines.push(deadline, currentContext().deadline);
            await client.caughtUp(caughtUp, { timeoutMs: 60_000 });
            return { marker: "", partitions: [] };
          },
          caughtUp: async (_request, { deadline }) => {
            deadlines.push(deadline);
            return { caughtUp: true };
          },
        });
        // The rest travels as a length of time, so a busy machine adds the time of the transport. One of several calls is exact.
        const measure = async () => {
          deadlines.length = 0;
          const before = Date.now();
          await client.markFacts({}, { timeoutMs: 2000 });
          const [outer = 0, context, inner = 0] = deadlines;
          expect(context).toBe(outer);
          expect(outer).toBeGreaterThan(before + 1000);
          expect(outer).toBeLessThan(before + 2000);
          expect(inner).toBeLessThanOrEqual(outer - 20);
          expect(inner).toBeGreaterThan(outer - 200);
        };
        await vi.waitFor(measure, { timeout: 20_000 });
      });

      it("lets the handler in the middle report what was too slow", async () => {
        const client = await facts({
          markFacts: async () => {
            try {
              await client.caughtUp(caughtUp, { timeoutMs: 60_000 });
            } catch (cause) {
              throw new Fault("unavailable", "reader_too_slow", "the reader is too slow", { cause });
            }
            return { marker: "", partitions: [] };
          },
          caughtUp: () => new Promise(() => {}),
        });
        // It has only a few milliseconds for that, which a busy machine may use for other work.
        const ask = async () => {
          const fault = await faultOf(client.markFacts({}, { timeoutMs: 1000 }));
          expect(fault).toMatchObject({ kind: "unavailable", code: "reader_too_slow" });
        };
        await vi.waitFor(ask, { timeout: 20_000 });
      });

      it("aborts the handler when the caller does not wait any more", async () => {
        const begun = Promise.withResolvers<void>();
        const aborted = Promise.withResolvers<void>();
        const { client } = await records((_request, { signal }) => {
          signal.addEventListener("abort", () => aborted.resolve());
          begun.resolve();
          return new Promise(() => {});
        });
        const abort = new AbortController();
        const call = errorOf(client.applyRecords({ records: [] }, { signal: abort.signal }));
        await begun.promise;
        const reason = new Error("changed my mind");
        const before = Date.now();
        abort.abort(reason);
        expect(await call).toBe(reason);
        // Not at its deadline, which is thirty seconds.
        expect(Date.now() - before).toBeLessThan(10_000);
        await aborted.promise;
      });

      it("makes no call for a caller that no longer waits", async () => {
        let handled = 0;
        const { client } = await records(async () => {
          handled += 1;
          return { rejected: [] };
        });
        const reason = new Error("gone");
        expect(await errorOf(client.applyRecords({ records: [] }, { signal: AbortSignal.abort(reason) }))).toBe(reason);
        await sleep(30);
        expect(handled).toBe(0);
      });

      it("does not abort a handler that has answered", async () => {
        let signal: AbortSignal | undefined;
        const { client } = await records(async (_request, call) => {
          signal = call.signal;
          return { rejected: [] };
        });
        const abort = new AbortController();
        await client.applyRecords({ records: [] });
        await client.applyRecords({ records: [] }, { signal: abort.signal, timeoutMs: 1000 });
        abort.abort();
        await sleep(1050);
        expect(signal?.aborted).toBe(false);
      });
    });

    describe("traces", () => {
      it("passes the trace on, and the span that calls", async () => {
        const seen: (string | undefined)[] = [];
        const client = await facts({
          markFacts: async () => {
            seen.push(currentContext().traceparent);
            await client.caughtUp(caughtUp);
            return { marker: "", partitions: [] };
          },
          caughtUp: async () => {
            seen.push(currentContext().traceparent);
            return { caughtUp: true };
          },
        });
        const root = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        await runInContext({ traceparent: root }, () => client.markFacts({}));
        expect(seen).toEqual([root, root]);
      });

      it("passes a request id on, hop by hop, and no invalid id", async () => {
        const seen: (string | undefined)[] = [];
        const client = await facts({
          markFacts: async () => {
            seen.push(currentContext().requestId);
            await client.caughtUp(caughtUp);
            return { marker: "", partitions: [] };
          },
          caughtUp: async () => {
            seen.push(currentContext().requestId);
            return { caughtUp: true };
          },
        });
        const requestId = "0af76519-16cd-43dd-8448-eb211c80319c";
        await runInContext({ requestId }, () => client.markFacts({}));
        await runInContext({ requestId: "mine" }, () => client.markFacts({}));
        await client.markFacts({});
        expect(seen).toEqual([requestId, requestId, undefined, undefined, undefined, undefined]);
      });

      it("begins a trace when there is none", async () => {
        let seen: string | undefined;
        const { client } = await records(async () => {
          seen = currentContext().traceparent;
          return { rejected: [] };
        });
        await client.applyRecords({ records: [] });
        expect(seen).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      });
    });

    describe("reports", () => {
      const notFound = new Fault("not_found", "list_not_found", "no such list");
      const unavailable = new Fault("unavailable", "database_unavailable", "no database", {
        cause: new Error("ECONNREFUSED"),
      });
      const bug = new TypeError("undefined is not a function");
      it.each([
        ["OK", "debug", undefined, {}],
        ["NOT_FOUND", "debug", notFound, { code: "list_not_found" }],
        ["UNAVAILABLE", "warn", unavailable, { code: "database_unavailable", error: unavailable }],
        ["INTERNAL", "error", bug, { error: bug }],
      ] as const)("writes one line of a call that ended %s", async (status, level, failure, more) => {
        const { client, lines, observed } = await records(async () => {
          if (failure !== undefined) throw failure;
          return { rejected: [] };
        });
        await client.applyRecords({ records: [] }).catch(() => {});
        const path = "/ticketing.records.v1.RecordsService/ApplyRecords";
        const duration: unknown = expect.any(Number);
        expect(lines).toEqual([{ level, message: "rpc", fields: { path, status, ms: duration, ...more } }]);
        expect(observed).toEqual([{ path, status, seconds: duration }]);
      });

      it("writes one line of a call whose handler fails after its deadline", async () => {
        const failed = Promise.withResolvers<void>();
        const { client, lines } = await records(async (_request, { signal }) => {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          await sleep(20);
          setTimeout(failed.resolve, 20);
          throw new Error("the statement was canceled");
        });
        expect(await faultOf(client.applyRecords({ records: [] }, { timeoutMs: 1000 }))).toMatchObject({
          kind: "timeout",
        });
        await failed.promise;
        expect(lines.map(({ level, fields }) => [level, fields["status"]])).toEqual([["warn", "DEADLINE_EXCEEDED"]]);
      });
    });

    describe("load and shutdown", () => {
      it("keeps five hundred concurrent calls apart", async () => {
        let begun = 0;
        const many = Promise.withResolvers<void>();
        const { client } = await records(async ({ records: [first] }) => {
          begun += 1;
          if (begun > 50) many.resolve();
          // If calls ran one after the other, this would wait for ever.
          await many.promise;
          await sleep(((first?.line ?? 0) * 7) % 50);
          if ((first?.line ?? 0) % 5 === 0) throw new Fault("conflict", `odd_${first?.line}`, "every fifth");
          return { rejected: [{ line: first?.line ?? 0, errors: [] }] };
        });
        const answers = await Promise.all(
          Array.from({ length: 500 }, (_, line) =>
            client.applyRecords({ records: [record({ line })] }).then(
              ({ rejected }) => rejected[0]?.line,
              (error: unknown) => (error instanceof Fault ? error.code : error),
            ),
          ),
        );
        expect(answers).toEqual(Array.from({ length: 500 }, (_, line) => (line % 5 === 0 ? `odd_${line}` : line)));
      });

      it("finishes calls under way when the service stops, and refuses later ones", async () => {
        const begun = Promise.withResolvers<void>();
        const proceed = Promise.withResolvers<void>();
        let handled = 0;
        const { client, close } = await records(async () => {
          handled += 1;
          begun.resolve();
          await proceed.promise;
          return { rejected: [] };
        });
        const underWay = client.applyRecords({ records: [] });
        await begun.promise;
        let closed = false;
        const closing = close().then(() => {
          closed = true;
        });
        await sleep(50);
        expect(await faultOf(client.applyRecords({ records: [] }, { timeoutMs: 200 }))).toMatchObject({
          kind: "unavailable",
        });
        expect(closed).toBe(false);
        proceed.resolve();
        expect(await underWay).toEqual({ rejected: [] });
        await closing;
        expect(await faultOf(client.applyRecords({ records: [] }, { timeoutMs: 200 }))).toMatchObject({
          kind: "unavailable",
        });
        expect(handled).toBe(1);
      });

      it("loses no call that it had begun when it stops under load", async () => {
        let answered = 0;
        const { client, close } = await records(async () => {
          await sleep(2);
          answered += 1;
          return { rejected: [] };
        });
        let received = 0;
        const failures: unknown[] = [];
        const caller = async () => {
          for (;;) {
            try {
              await client.applyRecords({ records: [] }, { timeoutMs: 3000 });
              received += 1;
            } catch (error) {
              failures.push(error);
              return;
            }
          }
        };
        const callers = Promise.all(Array.from({ length: 32 }, caller));
        await expect.poll(() => received).toBeGreaterThan(100);
        await close();
        await callers;
        expect(received).toBe(answered);
        expect(failures.map((error) => (error instanceof Fault ? error.kind : error))).toEqual(
          Array(32).fill("unavailable"),
        );
      });

      it("reports a service that does not exist as unavailable, within the deadline", async () => {
        const transport = toMissing();
        cleanUps.push(() => transport.close());
        const before = Date.now();
        const fault = await faultOf(connect(FactsServiceService, transport).markFacts({}, { timeoutMs: 300 }));
        expect(fault).toMatchObject({ kind: "unavailable", code: "peer_unavailable" });
        expect(Date.now() - before).toBeLessThan(10_000);
        const abort = new AbortController();
        setTimeout(() => abort.abort(new Error("enough")), 50);
        const waiting = connect(FactsServiceService, transport).markFacts(
          {},
          { timeoutMs: 5000, signal: abort.signal },
        );
        expect((await errorOf(waiting)).message).toBe("enough");
      });

      it("refuses calls once it is closed", async () => {
        const { client, transport } = await records(async () => ({ rejected: [] }));
        await transport.close();
        expect(await faultOf(client.applyRecords({ records: [] }))).toMatchObject({ kind: "unavailable" });
      });
    });
  });
}

const caughtUp: CaughtUpRequest = { marker: "", partitions: [] };

function record(given: Partial<WireRecord>): WireRecord {
  return { line: 1, kind: "", organizer: "", event: "", deleted: false, data: new Uint8Array(), ...given };
}

function scan(given: Partial<RedeemRequest["scans"][number]>): RedeemRequest["scans"][number] {
  return {
    organizer: "",
    event: "",
    list: 1,
    lookup: "",
    untrustedInput: false,
    type: "SCAN_TYPE_ENTRY",
    force: false,
    ignoreUnpaid: false,
    canceledSupported: false,
    questionsSupported: false,
    answers: [],
    sourceType: "barcode",
    ...given,
  };
}

function refusal(explanation: string | undefined): RedeemResponse["outcomes"][number] {
  return {
    outcome: { $case: "refused", value: { reason: "blocked", explanation } },
    list: undefined,
    position: undefined,
    checkinTexts: [],
  };
}

async function errorOf(call: Promise<unknown>): Promise<Error> {
  const error = await call.then(
    (response) => new TypeError(`expected the call to fail, but it answered ${JSON.stringify(response)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new TypeError(`expected an error, not ${String(error)}`);
}

async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const error = await errorOf(call);
  if (error instanceof Fault) return error;
  throw new TypeError("expected a fault", { cause: error });
}

function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.message, error.stack, JSON.stringify(error), everythingIn(error.cause)].join("\n");
}

function recordInto(lines: Line[], context: Fields = {}): Log {
  const at = (level: Line["level"]) => (message: string, fields?: Fields) => {
    lines.push({ level, message, fields: { ...context, ...fields } });
  };
  return {
    error: at("error"),
    warn: at("warn"),
    info: at("info"),
    debug: at("debug"),
    with: (fields) => recordInto(lines, { ...context, ...fields }),
  };
}
