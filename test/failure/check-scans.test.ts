import { describe, expect, it } from "vitest";
import { checkScans, type ListTerms, type StoredScan } from "./check-scans.ts";
import type { Attempt, Outcome, ScanType } from "./scan-history.ts";

const once: ListTerms = { id: 1, allowMultipleEntries: false, allowEntryAfterExit: false };
const again: ListTerms = { id: 2, allowMultipleEntries: false, allowEntryAfterExit: true };
const lists = [once, again];

const admitted: Outcome = { kind: "admitted" };
const refused = (reason = "already_redeemed"): Outcome => ({ kind: "refused", reason });
const unknown: Outcome = { kind: "unknown", why: "the connection broke" };

function attempt(
  nonce: string,
  outcome: Outcome,
  { from, list = 1, type = "entry", took = 10 }: { from: number; list?: number; type?: ScanType; took?: number },
): Attempt {
  return { scan: { gate: 1, nonce, list, position: 7, type }, invokedAt: from, endedAt: from + took, outcome };
}

function row(id: number, nonce: string, changes: Partial<StoredScan> = {}): StoredScan {
  return { id, list: 1, position: 7, type: "entry", successful: true, reason: null, nonce, at: id, ...changes };
}

const refusal = { successful: false, reason: "already_redeemed" } as const;

function check(attempts: readonly Attempt[], stored: readonly StoredScan[], fleeting: readonly number[] = []) {
  return checkScans({ attempts, stored, lists, fleeting: new Set(fleeting) });
}

describe("a sound history", () => {
  it.each<[string, Attempt[], StoredScan[]]>([
    ["nothing", [], []],
    [
      "one entry and a refusal after it",
      [attempt("a", admitted, { from: 0 }), attempt("b", refused(), { from: 20 })],
      [row(1, "a"), row(2, "b", refusal)],
    ],
    [
      "a refusal that overlaps the entry",
      [attempt("b", refused(), { from: 0 }), attempt("a", admitted, { from: 5 })],
      [row(1, "a"), row(2, "b", refusal)],
    ],
    [
      "an admission whose answer was lost the first time",
      [attempt("a", unknown, { from: 0 }), attempt("b", refused(), { from: 20 }), attempt("a", admitted, { from: 40 })],
      [row(1, "a"), row(2, "b", refusal)],
    ],
    [
      "a refusal that was stored twice, because its answer was lost",
      [attempt("a", admitted, { from: 0 }), attempt("b", unknown, { from: 20 }), attempt("b", refused(), { from: 40 })],
      [row(1, "a"), row(2, "b", refusal), row(3, "b", refusal)],
    ],
    [
      "entry, exit, entry where that is allowed",
      [
        attempt("a", admitted, { from: 0, list: 2 }),
        attempt("b", admitted, { from: 20, list: 2, type: "exit" }),
        attempt("c", admitted, { from: 40, list: 2 }),
      ],
      [row(1, "a", { list: 2 }), row(2, "b", { list: 2, type: "exit" }), row(3, "c", { list: 2 })],
    ],
  ])("%s", (_name, attempts, stored) => {
    expect(check(attempts, stored)).toEqual([]);
  });
});

describe("a contradiction", () => {
  it.each<[string, Attempt[], StoredScan[], RegExp]>([
    ["an admission that is gone", [attempt("a", admitted, { from: 0 })], [], /admitted, and is not stored/],
    [
      "an admission that is stored twice",
      [attempt("a", unknown, { from: 0 }), attempt("a", admitted, { from: 20 })],
      [row(1, "a"), row(2, "a")],
      /stored 2 times/,
    ],
    ["a refusal that is gone", [attempt("a", refused(), { from: 0 })], [], /that is not stored/],
    ["a refusal that came in", [attempt("a", refused(), { from: 0 })], [row(1, "a")], /stored as admitted/],
    [
      "more refusals than requests",
      [attempt("x", admitted, { from: 0 }), attempt("a", refused(), { from: 20 })],
      [row(1, "x"), row(2, "a", refusal), row(3, "a", refusal), row(4, "a", refusal)],
      /sent 1 times and is stored as refused 3 times/,
    ],
    ["a scan that was never sent", [], [row(1, "a")], /was never sent/],
    [
      "a scan of something else",
      [attempt("a", admitted, { from: 0 })],
      [row(1, "a", { type: "exit" })],
      /was sent as entry/,
    ],
    [
      "two entries where one is allowed",
      [attempt("a", admitted, { from: 0 }), attempt("b", admitted, { from: 0 })],
      [row(1, "a"), row(2, "b")],
      /admits scan 2 after scan 1/,
    ],
    [
      "two entries without an exit between them",
      [attempt("a", admitted, { from: 0, list: 2 }), attempt("b", admitted, { from: 0, list: 2 })],
      [row(1, "a", { list: 2 }), row(2, "b", { list: 2 })],
      /admits scan 2/,
    ],
    [
      "a refusal before anybody came",
      [attempt("b", refused(), { from: 0 }), attempt("a", admitted, { from: 20 })],
      [row(1, "b", refusal), row(2, "a")],
      /nobody had come in/,
    ],
    [
      "a refusal after everybody had left",
      [
        attempt("a", admitted, { from: 0, list: 2 }),
        attempt("b", admitted, { from: 20, list: 2, type: "exit" }),
        attempt("c", refused(), { from: 40, list: 2 }),
      ],
      [row(1, "a", { list: 2 }), row(2, "b", { list: 2, type: "exit" }), row(3, "c", { list: 2, ...refusal })],
      /nobody had come in/,
    ],
    [
      "a refusal for another reason",
      [attempt("a", refused("unpaid"), { from: 0 })],
      [row(1, "a", { successful: false, reason: "unpaid" })],
      /refused as unpaid/,
    ],
    ["a scan without an end", [attempt("a", unknown, { from: 0 })], [], /never found out/],
    [
      "an order that time forbids",
      [attempt("a", admitted, { from: 0, list: 2 }), attempt("b", admitted, { from: 50, list: 2, type: "exit" })],
      [row(1, "b", { list: 2, type: "exit" }), row(2, "a", { list: 2 })],
      /behind one that was sent after its answer/,
    ],
  ])("%s", (_name, attempts, stored, text) => {
    expect(check(attempts, stored).join("\n")).toMatch(text);
  });

  it("does not arise when the ticket was deleted and created again, but does from a repetition", () => {
    const sent = [attempt("a", admitted, { from: 0 })];
    expect(check(sent, [], [7])).toEqual([]);
    expect(check(sent, [row(1, "a"), row(2, "a")], [7]).join()).toMatch(/stored 2 times/);
  });
});
