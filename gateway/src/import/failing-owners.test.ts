import { Fault } from "@tessera/kit/fault";
import { describe, expect, it, vi } from "vitest";
import { fakeTargets, item, stream } from "../testing/import-targets.ts";
import { importStream } from "./import-stream.ts";

describe("an owner that fails", () => {
  it("[R6.6] is waited for while it is unavailable", async () => {
    let tried = 0;
    const { targets } = fakeTargets({
      boxoffice: async () => {
        tried += 1;
        if (tried < 3) throw new Fault("unavailable", "peer_unavailable", "away");
        return { rejected: [] };
      },
    });
    expect(await importStream(stream([item(1)]), targets)).toMatchObject({ accepted: 1 });
    expect(tried).toBe(3);
  });

  it("[R6.6, R7.9] ends the import with the result so far when it stays unavailable", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const away = new Fault("unavailable", "peer_unavailable", "away");
    let calls = 0;
    const { targets } = fakeTargets({
      boxoffice: async () => {
        calls += 1;
        vi.setSystemTime(Date.now() + 10_000);
        if (calls > 1) throw away;
        return { rejected: [] };
      },
    });
    const failure = await importStream(
      stream(Array.from({ length: 1700 }, (_, index) => item(index + 1))),
      targets,
    ).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "ImportFailure", cause: away, summary: { accepted: 500, settled: false } });
    vi.useRealTimers();
  });

  it("[R6.4] by one record loses that record alone", async () => {
    const sizes: number[] = [];
    const { targets } = fakeTargets({
      boxoffice: async ({ records }) => {
        sizes.push(records.length);
        if (records.some(({ line }) => line === 321))
          throw new Error("internal error in /ticketing.records.v1.RecordsService/ApplyRecords");
        return { rejected: [] };
      },
    });
    const summary = await importStream(stream(Array.from({ length: 500 }, (_, index) => item(index + 1))), targets);
    expect(summary).toMatchObject({ accepted: 499, rejected: 1, errors: [{ line: 321, kind: "item" }], settled: true });
    expect(sizes.length).toBeLessThan(20);
  });

  it("[R7.9] by everything ends the import", async () => {
    let calls = 0;
    const { targets } = fakeTargets({
      boxoffice: async () => {
        calls += 1;
        throw new TypeError("a bug");
      },
    });
    const failure = await importStream(
      stream(Array.from({ length: 5000 }, (_, index) => item(index + 1))),
      targets,
    ).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "ImportFailure", cause: { message: "a bug" } });
    expect(calls).toBeLessThan(100);
  });

  it("by the size of a record says so of that record", async () => {
    const { targets } = fakeTargets({
      boxoffice: async ({ records }) => {
        if (records.some(({ data }) => data.length > 2_000_000))
          throw new Fault("unmet", "message_too_large", "too large; use smaller parts");
        return { rejected: [] };
      },
    });
    const summary = await importStream(
      stream([item(1), item(2, { data: { x: "x".repeat(3_000_000) } }), item(3)]),
      targets,
    );
    expect(summary).toMatchObject({
      accepted: 2,
      errors: [{ line: 2, errors: { non_field_errors: ["too large; use smaller parts"] } }],
    });
  });
});

describe("the end of an import", () => {
  it("[R7.6] is asked for again if the first question fails", async () => {
    let asked = 0;
    const { targets } = fakeTargets({
      async markFacts() {
        asked += 1;
        if (asked < 4) throw new Fault("unavailable", "database_busy", "no connection is free");
      },
    });
    expect(await importStream(stream([item(1)]), targets)).toMatchObject({ accepted: 1, settled: true });
    expect(asked).toBe(4);
  });

  it("[R7.6] is not waited for longer than an import may wait", async () => {
    const { targets } = fakeTargets({ markFacts: () => Promise.reject(new Error("broken")) });
    expect(await importStream(stream([item(1)]), targets, { settleMs: 100 })).toMatchObject({
      accepted: 1,
      settled: false,
    });
  });
});
