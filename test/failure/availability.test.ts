import { expect, it } from "vitest";
import { findUncertain, longestSilenceMs, slowestScanMs } from "./availability.ts";
import type { Attempt, Outcome } from "./scan-history.ts";

const attempt = (nonce: string, [invokedAt, endedAt]: [number, number], outcome: Outcome): Attempt => ({
  scan: { gate: 1, nonce, list: 1, position: 1, type: "entry" },
  invokedAt,
  endedAt,
  outcome,
});
const admitted: Outcome = { kind: "admitted" };
const unknown: Outcome = { kind: "unknown", why: "unavailable" };
const attempts = [
  attempt("a", [0, 10], admitted),
  attempt("b", [12, 40], unknown),
  attempt("c", [50, 90], { kind: "refused", reason: "already_redeemed" }),
  attempt("b", [60, 130], admitted),
];

it("a silence is what lies between two certain answers, or between one and the end of the span", () => {
  expect(longestSilenceMs(attempts, { from: 0, to: 140 })).toBe(80);
  expect(longestSilenceMs(attempts, { from: 20, to: 80 })).toBe(60);
  expect(longestSilenceMs(attempts, { from: 0, to: 300 })).toBe(170);
});

it("a scan takes from its first try to its certain answer", () => {
  expect(slowestScanMs(attempts, { from: 0, to: 140 })).toBe(118);
  expect(slowestScanMs(attempts, { from: 45, to: 140 })).toBe(40);
  expect(slowestScanMs([attempt("d", [1, 2], unknown)], { from: 0, to: 9 })).toBe(Number.POSITIVE_INFINITY);
});

it("what was left open is found where it was sent", () => {
  expect(findUncertain(attempts, { from: 10, to: 140 })).toEqual([
    'scan b, 2 to 30 ms: {"kind":"unknown","why":"unavailable"}',
  ]);
  expect(findUncertain(attempts, { from: 13, to: 140 })).toEqual([]);
});
