import { seededNumbers } from "@tessera/testkit/seeded-numbers";
import QRCode from "qrcode";
import { expect, it } from "vitest";
import { chooseMask } from "./choose-mask.ts";

const levels = [
  [1, "H"],
  [12, "H"],
  [32, "H"],
  [33, "M"],
  [128, "M"],
  [129, "L"],
  [700, "L"],
  [2900, "L"],
] as const;

it.each(levels)("chooses the mask with the least penalty, for %i bytes", (length, level) => {
  const next = seededNumbers(length);
  for (let round = 0; round < 6; round += 1) {
    const data = Uint8Array.from({ length }, () => 33 + Math.floor(next() * 90));
    const encode = (maskPattern: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7) =>
      QRCode.create([{ data, mode: "byte" }], { errorCorrectionLevel: level, maskPattern }).modules;
    const { size: side, data: modules, reservedBit: reserved } = encode(0);
    const masked = ([0, 1, 2, 3, 4, 5, 6, 7] as const).map((mask) => Array.from(encode(mask).data));
    const penalties = masked.map((each) => penaltyByTheStandard(each, side));
    const expected = masked[penalties.indexOf(Math.min(...penalties))];
    expect(Array.from(chooseMask({ side, modules, reserved, level }))).toEqual(expected);
  }
});

/** The four features of ISO/IEC 18004, table 11, counted one by one. */
function penaltyByTheStandard(modules: readonly number[], side: number): number {
  const rows = Array.from({ length: side }, (_, row) => modules.slice(row * side, (row + 1) * side).join(""));
  const columns = Array.from({ length: side }, (_, column) => rows.map((row) => row[column]).join(""));
  let penalty = 0;
  for (const line of [...rows, ...columns]) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2;
    for (let from = 0; from + 11 <= side; from += 1)
      if (/^(?:10111010000|00001011101)$/.test(line.slice(from, from + 11))) penalty += 40;
  }
  for (let row = 1; row < side; row += 1) {
    for (let column = 1; column < side; column += 1) {
      const square = [rows[row - 1], rows[row]].map((line) => line?.slice(column - 1, column + 1)).join("");
      if (square === "0000" || square === "1111") penalty += 3;
    }
  }
  const dark = modules.filter((module) => module === 1).length;
  return penalty + 10 * Math.floor(Math.abs((100 * dark) / modules.length - 50) / 5);
}
