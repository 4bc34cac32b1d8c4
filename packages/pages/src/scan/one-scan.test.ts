import { describe, expect, it } from "vitest";
import { type Attempt, follow, type Happening, ready, type ScanState, takesCodes, toneOf } from "./one-scan.ts";
import type { Verdict } from "./verdict/verdict.ts";

const attempt: Attempt = {
  nonce: "n1",
  code: "abc",
  type: "entry",
  at: 1,
  ignoreUnpaid: false,
  force: false,
  answers: {},
};
const verdict = (kind: Verdict["kind"]): Verdict => ({
  ...{ kind, reason: "", explanation: undefined, attention: false, texts: [], ticket: undefined },
  ...{ questions: [], includesPending: false },
});
const asking: ScanState = { at: "asking", attempt, isSlow: false };
const undecided: ScanState = { at: "undecided", attempt, trouble: "network" };
const unreadable: ScanState = { at: "unreadable", problem: { kind: "binary" } };
const decided = (kind: Verdict["kind"]): ScanState => ({ at: "decided", attempt, verdict: verdict(kind) });

const code: Happening = { what: "code", attempt: { ...attempt, nonce: "n2" } };
const askingNext: ScanState = { at: "asking", attempt: { ...attempt, nonce: "n2" }, isSlow: false };
const answered: Happening = { what: "answered", nonce: "n1", verdict: verdict("admitted") };
const dismissed: Happening = { what: "dismissed" };

describe("a scan", () => {
  it.each<[string, ScanState, Happening, ScanState]>([
    ["begins with a code", ready, code, askingNext],
    ["follows an admission", decided("admitted"), code, askingNext],
    ["follows a refusal", decided("refused"), code, askingNext],
    ["follows what is no ticket", unreadable, code, askingNext],
    ["waits for the one before it", asking, code, asking],
    ["waits for answers of a person", decided("questions"), code, decided("questions")],
    ["waits while it is unknown what became of a ticket", undecided, code, undecided],
    ["is told to be slow", asking, { what: "slow", nonce: "n1" }, { ...asking, isSlow: true }],
    ["is decided by its answer", asking, answered, decided("admitted")],
    [
      "is not decided by a late answer to another one",
      asking,
      { what: "answered", nonce: "n0", verdict: verdict("refused") },
      asking,
    ],
    ["is not decided once it is dismissed", ready, answered, ready],
    ["cannot be dismissed while the server is asked", asking, dismissed, asking],
    ["is dismissed", undecided, dismissed, ready],
    ["is refused here where it is no ticket", ready, { what: "unreadable", problem: { kind: "binary" } }, unreadable],
  ])("[G3.1] %s", (_name, before, happening, after) => {
    expect(follow(before, happening)).toEqual(after);
  });

  it.each<[string, ScanState, Happening, ScanState]>([
    [
      "says that it is sent again",
      asking,
      { what: "failed", nonce: "n1", trouble: "server" },
      { at: "asking", attempt, isSlow: true, waitsFor: "server" },
    ],
    ["is undecided after the wait", asking, { what: "gave-up", nonce: "n1", trouble: "network" }, undecided],
    ["is sent again with its nonce when a person asks", undecided, { what: "again" }, asking],
  ])("[G3.2] without an answer %s", (_name, before, happening, after) => {
    expect(follow(before, happening)).toEqual(after);
  });

  it.each([[{ answers: { "3": "11" } }], [{ ignoreUnpaid: true }], [{ force: true }]])(
    "[G3.3] with %j is another one, with a nonce of its own",
    (change) => {
      const after = follow(decided("questions"), { what: "changed", nonce: "n3", at: 2, change });
      expect(after).toEqual({ at: "asking", attempt: { ...attempt, ...change, nonce: "n3", at: 2 }, isSlow: false });
    },
  );

  it("[G3.15] of a ticket that waits for its medium is no other ticket's turn, and is sent again with the medium", () => {
    const waiting: ScanState = {
      ...{ at: "decided", attempt },
      verdict: { ...verdict("exchange"), exchange: { policy: "new", type: "barcode" } },
    };
    const medium = { type: "barcode", identifier: "band-7" };
    expect(follow(waiting, code)).toBe(waiting);
    expect(follow(waiting, { what: "changed", nonce: "n3", at: 2, change: { medium } })).toMatchObject({
      at: "asking",
      attempt: { code: "abc", nonce: "n3", medium },
    });
    expect(follow(waiting, dismissed)).toBe(ready);
    expect([toneOf(waiting), takesCodes(waiting), takesCodes(decided("exchange"))]).toEqual(["question", false, true]);
  });

  it("[G3.6] of an unknown code is tried once more with what else a scanner can have meant", () => {
    const doubtful: ScanState = { at: "asking", attempt: { ...attempt, alsoRead: "xyz" }, isSlow: true };
    const unknown: Happening = { ...answered, verdict: { ...verdict("refused"), reason: "invalid" } };
    const reread = { ...attempt, code: "xyz", alsoRead: "abc", isReread: true, nonce: "n12" };
    const again = follow(doubtful, unknown);
    expect(again).toEqual({ at: "asking", attempt: reread, isSlow: true });
    expect(follow(again, { ...unknown, nonce: "n12" })).toMatchObject({ at: "decided", attempt: reread });
    expect(follow(doubtful, answered)).toMatchObject({ at: "decided", attempt: { code: "abc" } });
    expect(follow(asking, unknown)).toMatchObject({ at: "decided", attempt });
  });

  it("has a tone that tells verdicts apart", () => {
    const states = [
      decided("admitted"),
      decided("refused"),
      decided("questions"),
      undecided,
      unreadable,
      ready,
      asking,
    ];
    expect(states.map(toneOf)).toEqual([
      ...(["admitted", "refused", "question", "undecided", "refused"] as const),
      ...[undefined, undefined],
    ]);
    expect(states.map(takesCodes)).toEqual([true, true, false, false, true, true, false]);
  });
});
