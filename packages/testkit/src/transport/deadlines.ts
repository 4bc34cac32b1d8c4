import { setTimeout as sleep } from "node:timers/promises";
import { currentContext, runInContext } from "@tessera/kit/context";
import { Fault } from "@tessera/kit/fault";
import type { Call } from "@tessera/kit/rpc";
import { describe, expect, it, vi } from "vitest";
import { errorOf, faultOf } from "../fault-of.ts";
import { caughtUp, type Served } from "./serve-each-test.ts";

/** Tests deadlines, and callers that no longer wait. */
export function callsInTime({ facts, records }: Served): void {
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
      await vi.waitFor(measure, { timeout: 100_000 });
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
      await vi.waitFor(ask, { timeout: 100_000 });
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
}
