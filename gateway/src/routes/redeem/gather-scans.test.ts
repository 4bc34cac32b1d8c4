import { Fault } from "@tessera/kit/fault";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { RedeemRequest, RedeemResponse, Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { gatherScans } from "./gather-scans.ts";

function scan(lookup: string, nonce?: string, organizer = "o"): Scan {
  return {
    organizer,
    event: "e",
    list: 1,
    lookup,
    untrustedInput: false,
    type: ScanType.ENTRY,
    force: false,
    ignoreUnpaid: false,
    canceledSupported: false,
    questionsSupported: true,
    answers: [],
    sourceType: "barcode",
    nonce,
  };
}

/** Says in the outcome whose it is. */
const outcomeOf = ({ lookup }: Scan): ScanOutcome => ({
  outcome: { $case: "refused", value: { reason: lookup } },
  list: undefined,
  position: undefined,
  checkinTexts: [],
});
const reasonOf = ({ outcome }: ScanOutcome) => (outcome?.$case === "refused" ? outcome.value.reason : outcome?.$case);
const without = ($case: "failed" | "undecided" | "crowded"): ScanOutcome => ({
  ...outcomeOf(scan("")),
  outcome: { $case, value: {} },
});
const failed = without("failed");

interface Call {
  readonly lookups: string[];
  readonly patienceMs: number;
  readonly isAnswered: boolean;
  answer(response?: RedeemResponse): void;
  fail(error: unknown): void;
}

/** A service whose calls a test answers when it likes. Unless a test says otherwise, each scan is worth a second call, and none waits too long. */
function heldCalls({ worthAnother = 1, longestWaitMs = Number.POSITIVE_INFINITY } = {}): {
  calls: Call[];
  redeem: (scan: Scan, isGone?: () => boolean) => Promise<ScanOutcome>;
} {
  const calls: Call[] = [];
  const gathered = gatherScans(
    (request: RedeemRequest) =>
      new Promise<RedeemResponse>((resolve, reject) => {
        calls.push({
          lookups: request.scans.map(({ lookup }) => lookup),
          patienceMs: request.patienceMs ?? 0,
          isAnswered: false,
          answer(response = { outcomes: request.scans.map(outcomeOf) }) {
            Object.assign(this, { isAnswered: true });
            resolve(response);
          },
          fail: reject,
        });
      }),
    { worthAnother, longestWaitMs },
  );
  // Each organizer has one credential.
  return { calls, redeem: (sent, isGone) => gathered.redeem(sent, sent.organizer, isGone) };
}

const unavailable = () => new Fault("unavailable", "peer_unavailable", "the service cannot be reached");

const numbered = (count: number) => Array.from({ length: count }, (_, index) => String(index));

/** Answers all calls, also those that follow. */
async function answerAll(calls: readonly Call[], before: () => void = () => {}): Promise<void> {
  for (let answered = 0; answered < calls.length; answered += 1) {
    if (!calls[answered]?.isAnswered) before();
    calls[answered]?.answer();
    await turn();
  }
}

/** Lets everything go on that waits for nothing. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

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
    const results = numbered(101).map((lookup) => redeem(scan(lookup)));
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

  it("[C3.47] refuses at once what would wait longer than 200 ms, and more of it when scans take longer", async () => {
    const { calls, redeem } = heldCalls({ longestWaitMs: 200 });
    const fill = async (most: number) => {
      const results = numbered(most).map((lookup) => redeem(scan(lookup)));
      await expect(redeem(scan("one too many"))).rejects.toMatchObject({ kind: "exhausted", retryAfterMs: 1000 });
      // Another organizer has its share.
      results.push(redeem(scan("other", undefined, "p")));
      await answerAll(calls);
      await Promise.all(results);
    };
    await fill(400);
    let clock = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => clock);
    for (let round = 0; round < 30; round += 1) {
      const results = numbered(66).map((lookup) => redeem(scan(lookup)));
      // Two scans are sent at once; the other 64 take 128 ms.
      await answerAll(calls, () => (clock += 128));
      await Promise.all(results);
    }
    await fill(101);
  });

  it("lets organizers take turns", async () => {
    const { calls, redeem } = heldCalls();
    const flood = numbered(202).map((lookup) => redeem(scan(lookup)));
    const other = redeem(scan("other", undefined, "p"));
    calls[0]?.answer();
    await turn();
    expect(calls[2]?.lookups.slice(0, 3)).toEqual(["2", "other", "3"]);
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

describe("scans whose callers wait no more", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  it("are refused without having been sent", async () => {
    const { calls, redeem } = heldCalls();
    const results = ["x", "y", "late"].map((lookup) => redeem(scan(lookup, "n")));
    vi.setSystemTime(Date.now() + 8001);
    calls[0]?.answer();
    calls[1]?.answer();
    await expect(results[2]).rejects.toMatchObject({ kind: "unavailable" });
    expect(calls).toHaveLength(2);
    await Promise.all(results.slice(0, 2));
  });

  it("are not tried again either", async () => {
    const { calls, redeem } = heldCalls();
    const result = redeem(scan("x", "n"));
    vi.setSystemTime(Date.now() + 8001);
    calls[0]?.fail(unavailable());
    await expect(result).rejects.toMatchObject({ kind: "unavailable" });
    expect(calls).toHaveLength(1);
  });

  it("are refused when their time is over, whatever their call does", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout"] });
    const { calls, redeem } = heldCalls();
    const results = ["x", "y", "later"].map((lookup) => redeem(scan(lookup, "n")));
    const refused = Promise.all(results.map((result) => expect(result).rejects.toMatchObject({ kind: "unavailable" })));
    vi.advanceTimersByTime(8000);
    await refused;
    expect(calls).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("are never sent after their time, though the clock was set back, and hold up no scan of their code", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout"] });
    const { calls, redeem } = heldCalls();
    // So many that the last one still waits after eight seconds of calls that take long.
    const flood = ["o", "p"].flatMap((organizer) =>
      ["1", "2", "3"].flatMap((credential) =>
        numbered(400).map((lookup) => redeem(scan(`${credential}-${lookup}`, "n", `${organizer}${credential}`))),
      ),
    );
    const last = redeem(scan("last", "n", "o1"));
    const refused = Promise.all(
      [...flood, last].map((result) => expect(result).rejects.toMatchObject({ kind: "unavailable" })),
    );
    vi.advanceTimersByTime(7999);
    vi.setSystemTime(Date.now() - 1000);
    vi.advanceTimersByTime(1);
    await refused;
    vi.useRealTimers();
    const again = redeem(scan("last", "m", "o1"));
    await answerAll(calls);
    expect(reasonOf(await again)).toBe("last");
    expect(calls.flatMap(({ lookups }) => lookups).filter((lookup) => lookup === "last")).toHaveLength(1);
  }, 10_000);
});
