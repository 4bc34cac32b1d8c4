import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "@tessera/kit/fault";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { describe, expect, it } from "vitest";
import {
  answerAll,
  heldCalls,
  outcomeOf,
  reasonOf,
  scan,
  turn,
  unavailable,
  without,
} from "../../testing/held-calls.ts";

const failed = without("failed");

describe("scans that are held back", () => {
  it("are sent again, each on its own and with more patience, whether they have a nonce or not", async () => {
    const { calls, redeem } = heldCalls();
    const results = ["x", "y", "a", "b", "c"].map((lookup) => redeem(scan(lookup)));
    calls[0]?.answer();
    calls[1]?.answer();
    await turn();
    expect(calls[2]).toMatchObject({ lookups: ["a", "b", "c"], patienceMs: 50 });
    calls[2]?.answer({ outcomes: [without("undecided"), outcomeOf(scan("b")), without("undecided")] });
    expect(reasonOf(await (results[3] as Promise<ScanOutcome>))).toBe("b");
    await turn();
    expect(calls.slice(3)).toMatchObject([
      { lookups: ["a"], patienceMs: 3000 },
      { lookups: ["c"], patienceMs: 3000 },
    ]);
    calls[3]?.answer({ outcomes: [without("undecided")] });
    await turn();
    expect(calls[5]?.lookups).toEqual(["a"]);
    await answerAll(calls);
    expect((await Promise.all(results)).map(reasonOf)).toEqual(["x", "y", "a", "b", "c"]);
  });

  it("are refused where too many of them wait", async () => {
    const { calls, redeem } = heldCalls();
    const result = redeem(scan("a", "n"));
    calls[0]?.answer({ outcomes: [without("crowded")] });
    await expect(result).rejects.toMatchObject({ kind: "exhausted", retryAfterMs: 1000 });
    expect(calls).toHaveLength(1);
  });
});

describe("when a call fails", () => {
  it("[C3.47] a scan that may be stored is undecided, and not refused, where its next call finds too many waiting", async () => {
    const { calls, redeem } = heldCalls();
    const result = redeem(scan("a", "n"));
    calls[0]?.fail(unavailable());
    await turn();
    calls[1]?.answer({ outcomes: [without("crowded")] });
    await expect(result).rejects.toMatchObject({ kind: "unavailable", code: "scan_undecided", retryAfterMs: 1000 });
  });

  it("only scans that are stored once are tried again, each on its own", async () => {
    const { calls, redeem } = heldCalls();
    const first = ["x", "y"].map((lookup) => redeem(scan(lookup)));
    const [a, b, c] = [redeem(scan("a", "n1")), redeem(scan("b")), redeem(scan("c", "n2"))];
    calls[0]?.answer();
    calls[1]?.answer();
    await Promise.all(first);
    await turn();
    expect(calls[2]?.lookups).toEqual(["a", "b", "c"]);
    calls[2]?.fail(unavailable());
    await expect(b).rejects.toMatchObject({ kind: "unavailable", code: "scan_undecided", retryAfterMs: 1000 });
    await turn();
    expect(calls.slice(3).map(({ lookups }) => lookups)).toEqual([["a"], ["c"]]);
    calls[3]?.answer();
    calls[4]?.fail(unavailable());
    expect(reasonOf(await a)).toBe("a");
    await expect(c).rejects.toMatchObject({ kind: "unavailable" });
    expect(calls).toHaveLength(5);
  });

  it("[C3.49] a scan says how old it is when it is tried again", async () => {
    const { calls, redeem } = heldCalls();
    const result = redeem(scan("a", "n"));
    await sleep(150);
    calls[0]?.fail(unavailable());
    await turn();
    const [first, second] = calls.map(({ ages }) => ages);
    expect(first).toEqual([undefined]);
    expect(second?.[0]).toBeGreaterThanOrEqual(149);
    calls[1]?.answer();
    expect(reasonOf(await result)).toBe("a");
  });

  it("what the service could not decide counts as failed for that scan alone", async () => {
    const { calls, redeem } = heldCalls();
    const results = Promise.allSettled(
      [scan("x"), scan("y"), scan("a", "n"), scan("b"), scan("c")].map((each) => redeem(each)),
    );
    calls[0]?.answer();
    await turn();
    calls[2]?.answer({ outcomes: [failed, failed, outcomeOf(scan("c"))] });
    await turn();
    expect(calls[3]?.lookups).toEqual(["a"]);
    calls[3]?.answer();
    calls[1]?.answer();
    const settled = await results;
    expect(settled.map((result) => (result.status === "fulfilled" ? reasonOf(result.value) : "rejected"))).toEqual([
      "x",
      "y",
      "a",
      "rejected",
      "c",
    ]);
  });

  it("an overloaded service is not asked again", async () => {
    const { calls, redeem } = heldCalls();
    const result = redeem(scan("a", "n"));
    calls[0]?.fail(new Fault("exhausted", "exhausted", "too many"));
    await expect(result).rejects.toMatchObject({ kind: "exhausted", retryAfterMs: 1000 });
    expect(calls).toHaveLength(1);
  });

  it("a scan that is too large for a message is refused, and no other", async () => {
    const { calls, redeem } = heldCalls();
    const result = redeem(scan("a", "n"));
    calls[0]?.fail(new Fault("unmet", "message_too_large", "too large"));
    await expect(result).rejects.toMatchObject({ kind: "invalid", code: "body_too_large" });
    expect(calls).toHaveLength(1);
  });

  it("an answer for another number of scans is no answer", async () => {
    const { calls, redeem } = heldCalls();
    const result = redeem(scan("a"));
    calls[0]?.answer({ outcomes: [] });
    await expect(result).rejects.toMatchObject({ kind: "unavailable", cause: expect.any(Error) });
  });

  it("a failure does not stop the scans behind it", async () => {
    const { calls, redeem } = heldCalls();
    const results = Array.from({ length: 5 }, (_, index) => redeem(scan(String(index))));
    calls[0]?.fail(new TypeError("a bug"));
    await expect(results[0]).rejects.toBeInstanceOf(Fault);
    await turn();
    calls[1]?.answer();
    calls[2]?.answer();
    expect((await Promise.all(results.slice(1))).map(reasonOf)).toEqual(["1", "2", "3", "4"]);
  });
});
