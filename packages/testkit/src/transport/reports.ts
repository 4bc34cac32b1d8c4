import { setTimeout as sleep } from "node:timers/promises";
import { currentContext, runInContext } from "@tessera/kit/context";
import { Fault } from "@tessera/kit/fault";
import { connect } from "@tessera/kit/rpc";
import { Records } from "@tessera/protos/services";
import { describe, expect, it } from "vitest";
import { faultOf } from "../fault-of.ts";
import { caughtUp, type Served } from "./serve-each-test.ts";

/** Tests what an operator sees of a call: its trace, and its line in the log. */
export function reportsOfCalls({ facts, records }: Served): void {
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

    it("refuses what is no message of a method, and writes of it no error, and one warning a minute", async () => {
      const { transport, lines } = await records(async () => ({ rejected: [] }));
      // The length of a field, and nothing of it.
      const requestSerialize = () => Buffer.from([0x0a, 0x7f]);
      const client = connect({ ...Records, applyRecords: { ...Records.applyRecords, requestSerialize } }, transport);
      for (let call = 0; call < 3; call += 1) {
        // A process of ours that sends it has a bug: its own client gets no answer that it could correct.
        await expect(client.applyRecords({ records: [] })).rejects.toThrow("the peer could not read a request to");
      }
      const loud = lines.filter(({ level }) => level !== "debug");
      expect(loud).toMatchObject([{ level: "warn", message: "unreadable request", fields: { refused: 1 } }]);
      expect(lines).toHaveLength(4);
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
}
