import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { describe, expect, it, vi } from "vitest";
import { answerAll, heldCalls, numbered, outcomeOf, reasonOf, scan, turn, without } from "../../testing/held-calls.ts";

describe("gathering", () => {
  it("sends a single scan at once, and what arrives meanwhile together", async () => {
    const { calls, redeem } = heldCalls();
    const results = ["a", "b", "c", "d", "e"].map((lookup) => redeem(scan(lookup)));
    expect(calls.map(({ lookups }) => lookups)).toEqual([["a"], ["b"]]);
    calls[1]?.answer();
    await turn();
    expect(calls.map(({ lookups }) => lookups)).toEqual([["a"], ["b"], ["c", "d", "e"]]);
    calls[2]?.answer();
    calls[0]?.answer();
    expect((await Promise.all(results)).map(reasonOf)).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("sends a second call beside one in flight for many scans, and for fewer when that one takes long", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { calls, redeem } = heldCalls({ worthAnother: 3 });
    const results = ["a", "b", "c", "d", "e", "f"].map((lookup) => redeem(scan(lookup)));
    expect(calls.map(({ lookups }) => lookups)).toEqual([["a"], ["b", "c", "d"]]);
    calls[1]?.answer();
    await turn();
    expect(calls).toHaveLength(2);
    vi.advanceTimersByTime(20);
    expect(calls.map(({ lookups }) => lookups)).toEqual([["a"], ["b", "c", "d"], ["e", "f"]]);
    calls[0]?.answer();
    calls[2]?.answer();
    expect((await Promise.all(results)).map(reasonOf)).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it("sends a second call for any scan beside a small one", async () => {
    const { calls, redeem } = heldCalls({ worthAnother: 8 });
    const results = ["a", "b"].map((lookup) => redeem(scan(lookup)));
    expect(calls.map(({ lookups }) => lookups)).toEqual([["a"], ["b"]]);
    for (const call of calls) call.answer();
    await Promise.all(results);
  });

  it("[C3.48] sends no scan whose scanner has gone while it waited", async () => {
    const { calls, redeem } = heldCalls();
    let isGone = false;
    const stays = ["a", "b", "c"].map((lookup) => redeem(scan(lookup)));
    const left = redeem(scan("d"), () => isGone).catch((error: unknown) => error);
    isGone = true;
    for (const call of calls) call.answer();
    await turn();
    calls[2]?.answer();
    await Promise.all(stays);
    expect(await left).toMatchObject({ code: "scan_undecided" });
    expect(calls.map(({ lookups }) => lookups)).toEqual([["a"], ["b"], ["c"]]);
  });

  it("[C3.47] measures the pace without scans that were held back and travel alone", async () => {
    const { calls, redeem } = heldCalls({ longestWaitMs: 200 });
    let clock = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => clock);
    for (let round = 0; round < 30; round += 1) {
      const before = calls.length;
      const hot = redeem(scan("hot"));
      calls[before]?.answer({ outcomes: [without("undecided")] });
      await turn();
      const alone = calls[before + 1];
      const results = numbered(66).map((lookup) => redeem(scan(lookup)));
      calls[before + 2]?.answer();
      calls[before + 3]?.answer();
      await turn();
      // The 64 scans of this call take 128 ms, in which the one alone ends.
      const many = calls[before + 4];
      expect([alone?.lookups, many?.lookups.length]).toEqual([["hot"], 64]);
      clock += 127;
      alone?.answer();
      await turn();
      clock += 1;
      many?.answer();
      await Promise.all([hot, ...results]);
    }
    const results = numbered(100).map((lookup) => redeem(scan(lookup)));
    await expect(redeem(scan("one too many"))).rejects.toMatchObject({ kind: "exhausted" });
    await answerAll(calls);
    await Promise.all(results);
  });

  it("keeps calls to 64 scans and two at a time", async () => {
    const { calls, redeem } = heldCalls();
    const results = Array.from({ length: 202 }, (_, index) => redeem(scan(String(index))));
    let mostOpen = 0;
    for (let answered = 0; answered < calls.length; answered += 1) {
      mostOpen = Math.max(mostOpen, calls.length - answered);
      calls[answered]?.answer();
      await turn();
    }
    expect(mostOpen).toBe(2);
    expect(calls.map(({ lookups }) => lookups.length)).toEqual([1, 1, 64, 64, 64, 8]);
    expect((await Promise.all(results)).map(reasonOf)).toEqual(
      Array.from({ length: 202 }, (_, index) => String(index)),
    );
  });

  it("sends later calls while one takes long", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { calls, redeem } = heldCalls();
    const results = ["a", "b", "c", "d"].map((lookup) => redeem(scan(lookup)));
    vi.advanceTimersByTime(499);
    expect(calls).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(calls.map(({ lookups }) => lookups)).toEqual([["a"], ["b"], ["c", "d"]]);
    for (const call of calls) call.answer();
    expect((await Promise.all(results)).map(reasonOf)).toEqual(["a", "b", "c", "d"]);
    // Neither answer makes room a second time.
    const more = Array.from({ length: 4 }, (_, index) => redeem(scan(String(index))));
    expect(calls.slice(3).map(({ lookups }) => lookups)).toEqual([["0"], ["1"]]);
    calls[3]?.answer();
    await turn();
    for (const call of calls.slice(4)) call.answer();
    await Promise.all(more);
    vi.useRealTimers();
  });

  it("refuses more than one credential may have waiting, and nothing of others", async () => {
    const { calls, redeem } = heldCalls();
    const results = numbered(512).map((lookup) => redeem(scan(lookup)));
    await expect(redeem(scan("one too many"))).rejects.toMatchObject({ kind: "exhausted", retryAfterMs: 1000 });
    const other = redeem(scan("other", undefined, "p"));
    await answerAll(calls);
    expect(reasonOf(await other)).toBe("other");
    await Promise.all(results);
    const again = redeem(scan("again"));
    await answerAll(calls);
    expect(reasonOf(await again)).toBe("again");
  });

  it("leaves room for organizers with few scans, however many others have waiting", async () => {
    const { calls, redeem } = heldCalls();
    const floods = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].flatMap((organizer) =>
      numbered(512).map((lookup) => redeem(scan(lookup, undefined, organizer))),
    );
    const refused = Promise.allSettled(floods);
    const few = numbered(64).map((lookup) => redeem(scan(lookup, undefined, "p")));
    await expect(redeem(scan("one too many", undefined, "p"))).rejects.toMatchObject({ kind: "exhausted" });
    await answerAll(calls);
    expect(await Promise.all(few)).toHaveLength(64);
    expect((await refused).filter(({ status }) => status === "rejected").length).toBeGreaterThan(100);
  });

  it("[C3.47] refuses at once what would wait too long, and more of it when scans take longer", async () => {
    const { calls, redeem } = heldCalls({ longestWaitMs: 200 });
    const fill = async (most: number) => {
      const results = numbered(most).map((lookup) => redeem(scan(lookup)));
      await expect(redeem(scan("one too many"))).rejects.toMatchObject({ kind: "exhausted", retryAfterMs: 1000 });
      // Another organizer has its share.
      results.push(redeem(scan("other", undefined, "p")));
      await answerAll(calls);
      await Promise.all(results);
    };
    await fill(200);
    let clock = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => clock);
    for (let round = 0; round < 30; round += 1) {
      const results = numbered(66).map((lookup) => redeem(scan(lookup)));
      // Two scans are sent at once; the other 64 take 128 ms.
      await answerAll(calls, () => (clock += 128));
      await Promise.all(results);
    }
    await fill(100);
  });

  it("lets organizers take turns", async () => {
    const { calls, redeem } = heldCalls();
    const flood = numbered(202).map((lookup) => redeem(scan(lookup)));
    const other = redeem(scan("other", undefined, "p"));
    calls[0]?.answer();
    await turn();
    expect(calls[2]?.lookups.slice(0, 3)).toEqual(["other", "2", "3"]);
    await answerAll(calls);
    expect(reasonOf(await other)).toBe("other");
    await Promise.all(flood);
  });

  it("sends one scan of a code on a list at a time, and others past those that wait", async () => {
    const { calls, redeem } = heldCalls();
    const hot = ["1", "2", "3"].map((nonce) => redeem(scan("hot", nonce)));
    const elsewhere = redeem({ ...scan("hot"), list: 2 });
    const other = redeem(scan("other"));
    expect(calls.map(({ lookups }) => lookups)).toEqual([["hot"], ["hot"]]);
    calls[1]?.answer();
    expect(reasonOf(await elsewhere)).toBe("hot");
    await turn();
    expect(calls[2]?.lookups).toEqual(["other"]);
    calls[2]?.answer();
    expect(reasonOf(await other)).toBe("other");
    expect(calls).toHaveLength(3);
    calls[0]?.answer();
    await hot[0];
    await turn();
    expect(calls.slice(3).map(({ lookups }) => lookups)).toEqual([["hot"]]);
    await answerAll(calls);
    expect((await Promise.all(hot)).map(reasonOf)).toEqual(["hot", "hot", "hot"]);
  });

  it("lets the next scan of a code wait for one that is held back, and not for a call that takes long", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { calls, redeem } = heldCalls();
    const hot = ["1", "2", "3"].map((nonce) => redeem(scan("hot", nonce)));
    calls[0]?.answer({ outcomes: [without("undecided")] });
    await turn();
    expect(calls.slice(1)).toMatchObject([{ lookups: ["hot"], patienceMs: 3000 }]);
    calls[1]?.answer();
    await hot[0];
    await turn();
    expect(calls).toHaveLength(3);
    vi.advanceTimersByTime(500);
    await turn();
    expect(calls).toHaveLength(4);
    vi.useRealTimers();
    await answerAll(calls);
    await Promise.all(hot);
  });

  it("refuses more than 64 scans of a code on a list, and no other", async () => {
    const { calls, redeem } = heldCalls();
    const hot = numbered(64).map((nonce) => redeem(scan("hot", nonce)));
    await expect(redeem(scan("hot", "one too many"))).rejects.toMatchObject({ kind: "exhausted" });
    const other = redeem(scan("other"));
    expect(calls.at(-1)?.lookups).toEqual(["other"]);
    await answerAll(calls);
    await Promise.all([...hot, other]);
  });

  it("sends large scans apart", async () => {
    const { calls, redeem } = heldCalls();
    const large = (lookup: string) => ({ ...scan(lookup), answers: [{ question: 1, value: "x".repeat(1_000_000) }] });
    const results = [scan("a"), scan("b"), large("c"), scan("d"), large("e"), scan("f")].map((each) => redeem(each));
    calls[0]?.answer();
    await turn();
    expect(calls[2]?.lookups).toEqual(["c", "d", "f"]);
    await answerAll(calls);
    expect((await Promise.all(results)).map(reasonOf)).toEqual(["a", "b", "c", "d", "e", "f"]);
  });

  it("gives all scans the documents that they share", async () => {
    const { calls, redeem } = heldCalls();
    const results = ["x", "y", "a", "b", "c"].map((lookup) => redeem(scan(lookup)));
    calls[0]?.answer();
    await turn();
    const documents = { items: [{ id: 1, json: new Uint8Array([1]) }], subevents: [], questions: [] };
    const outcomes = ["a", "b", "c"].map((lookup) => outcomeOf(scan(lookup)));
    calls[2]?.answer({
      outcomes: [{ ...outcomes[0], documents }, { ...outcomes[1], documentsAt: 0 }, outcomes[2]] as ScanOutcome[],
    });
    calls[1]?.answer();
    expect((await Promise.all(results)).slice(2).map((outcome) => outcome.documents)).toEqual([
      documents,
      documents,
      undefined,
    ]);
  });
});
