import { expect, it } from "vitest";
import { findUncertain, isCutByStop, longestSilenceMs, slowestScanMs } from "./availability.ts";
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

it("a silence lies between two certain answers, or between one and an end of the span", () => {
  expect(longestSilenceMs(attempts, { from: 0, to: 140 })).toBe(80);
  expect(longestSilenceMs(attempts, { from: 20, to: 80 })).toBe(60);
  expect(longestSilenceMs(attempts, { from: 0, to: 300 })).toBe(170);
});

it("the time of a scan goes from its first try to its certain answer", () => {
  expect(slowestScanMs(attempts, { from: 0, to: 140 })).toBe(118);
  expect(slowestScanMs(attempts, { from: 45, to: 140 })).toBe(40);
  expect(slowestScanMs([attempt("d", [1, 2], unknown)], { from: 0, to: 9 })).toBe(Number.POSITIVE_INFINITY);
});

it("a scan without an answer is reported for the address it was sent to", () => {
  expect(findUncertain(attempts, { from: 10, to: 140 })).toEqual([
    'scan b, 2 to 30 ms: {"kind":"unknown","why":"unavailable"}',
  ]);
  expect(findUncertain(attempts, { from: 13, to: 140 })).toEqual([]);
});

it("a connection was cut by a stop if its process was being stopped", () => {
  const stops = [{ baseUrl: "http://one", from: 100, to: 200 }];
  const cut = { kind: "unknown", why: "UND_ERR_SOCKET other side closed" } as const;
  const isCut = (baseUrl: string, endedAt: number, outcome: Outcome) =>
    isCutByStop({ ...attempt("a", [90, endedAt], outcome), baseUrl }, stops);
  expect(isCut("http://one", 150, cut)).toBe(true);
  expect(isCut("http://one", 150, { kind: "unknown", why: "ECONNRESET read ECONNRESET" })).toBe(true);
  expect(isCut("http://two", 150, cut)).toBe(false);
  expect(isCut("http://one", 200, cut)).toBe(false);
  expect(isCut("http://one", 150, unknown)).toBe(false);
  expect(isCut("http://one", 150, admitted)).toBe(false);
});
