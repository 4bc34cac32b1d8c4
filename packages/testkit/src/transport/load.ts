import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "@tessera/kit/fault";
import { connect, type Transport } from "@tessera/kit/rpc";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import { describe, expect, it } from "vitest";
import { errorOf, faultOf } from "../fault-of.ts";
import { record, type Served } from "./serve-each-test.ts";

/** Tests many calls at once, and services that stop or do not exist. */
export function loadAndShutdown({ cleanUps, records }: Served, { toMissing }: { toMissing: () => Transport }): void {
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
      const waiting = connect(FactsServiceService, transport).markFacts({}, { timeoutMs: 5000, signal: abort.signal });
      expect((await errorOf(waiting)).message).toBe("enough");
    });

    it("refuses calls once it is closed", async () => {
      const { client, transport } = await records(async () => ({ rejected: [] }));
      await transport.close();
      expect(await faultOf(client.applyRecords({ records: [] }))).toMatchObject({ kind: "unavailable" });
    });
  });
}
