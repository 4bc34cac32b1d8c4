import { describe, expect, it } from "vitest";
import {
  afterScan,
  countChange,
  hasEntered,
  isInside,
  isOutOfOrder,
  neverScanned,
  type Presence,
  type ScanType,
} from "./presence.ts";

const after = (...scans: readonly (readonly [ScanType, number])[]): Presence =>
  scans.reduce((presence, [type, at]) => afterScan(presence, { type, at }), neverScanned);

describe("presence", () => {
  it.each([
    ["never scanned", after(), [false, false]],
    ["an entry", after(["entry", 1]), [true, true]],
    ["an exit", after(["exit", 1]), [false, false]],
    ["in and out", after(["entry", 1], ["exit", 2]), [true, false]],
    ["in and out and in", after(["entry", 1], ["exit", 2], ["entry", 3]), [true, true]],
    ["out, then an earlier entry arrives", after(["exit", 2], ["entry", 1]), [true, false]],
    ["in, then an earlier exit arrives", after(["entry", 2], ["exit", 1]), [true, true]],
    ["in and out within one instant", after(["entry", 1], ["exit", 1]), [true, false]],
    ["out and in within one instant", after(["exit", 1], ["entry", 1]), [true, true]],
  ] as const)("%s", (_name, presence, [entered, inside]) => {
    expect([hasEntered(presence), isInside(presence)]).toEqual([entered, inside]);
  });

  it("counts its scans", () => {
    expect(after(["entry", 1], ["exit", 2], ["entry", 3])).toMatchObject({ version: 3, entries: 2 });
  });

  it.each([
    ["an entry before an entry", after(["entry", 2]), "entry", 1, true],
    ["an entry before an exit", after(["exit", 2]), "entry", 1, true],
    ["an entry in the same instant", after(["entry", 2]), "entry", 2, false],
    ["an entry behind all", after(["exit", 2]), "entry", 3, false],
    ["the first entry", after(), "entry", 1, false],
    ["an exit", after(["entry", 2]), "exit", 1, false],
  ] as const)("[F3.1] tells out of order: %s", (_name, presence, type, at, expected) => {
    expect(isOutOfOrder(presence, { type, at }, { allowMultipleEntries: false })).toBe(expected);
    expect(isOutOfOrder(presence, { type, at }, { allowMultipleEntries: true })).toBe(false);
  });

  it.each([
    ["a first entry", after(), after(["entry", 1]), { entered: 1, inside: 1 }],
    ["a second entry", after(["entry", 1]), after(["entry", 1], ["entry", 2]), { entered: 0, inside: 0 }],
    ["an exit", after(["entry", 1]), after(["entry", 1], ["exit", 2]), { entered: 0, inside: -1 }],
    ["a first exit", after(), after(["exit", 1]), { entered: 0, inside: 0 }],
  ] as const)("adds to the counts: %s", (_name, before, now, expected) => {
    expect(countChange(before, now)).toEqual(expected);
  });
});
