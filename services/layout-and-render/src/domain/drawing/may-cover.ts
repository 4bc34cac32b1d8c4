import type { ResolvedElement } from "../elements/resolved-element.ts";
import { poweredByRatio } from "./powered-by.ts";

/** Millimetres from the lower left corner. */
export interface Area {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

/** Whether two areas may overlap. */
export function mayCover(one: Area, two: Area): boolean {
  return one.left < two.right && two.left < one.right && one.bottom < two.top && two.bottom < one.top;
}

const mmPerPoint = 25.4 / 72;

/** An upper bound of the area that an element covers. */
export function reachOf(element: ResolvedElement): Area {
  const { left, bottom } = element;
  if (element.type === "barcodearea") return { left, bottom, right: left + element.size, top: bottom + element.size };
  if (element.type === "imagearea") return { left, bottom, right: left + element.width, top: bottom + element.height };
  if (element.type === "poweredby")
    return { left, bottom, right: left + element.size * poweredByRatio, top: bottom + element.size };
  if (element.value.trim() === "") return { left, right: left, bottom, top: bottom };
  const width = Math.max(element.width, 0);
  const size = element.fontSize * mmPerPoint;
  const lines = element.value.split("\n").map((line) => widthInEm(line) * size);
  // A long word may overflow.
  const out = element.type === "textcontainer" && !element.splitsLongWords ? Math.max(...lines) : 0;
  const advance = 1.15 * Math.max(element.lineHeight ?? 1, 1) * size;
  const needed = lines.reduce((sum, line) => sum + countLines(line, width), 0) * advance + size;
  const text = { left: left - size, right: left + Math.max(width, out) + size };
  const area = { ...text, ...vertical(element, needed, size) };
  if (element.rotation % 360 === 0) return area;
  const radius = Math.hypot(area.right - area.left, area.top - area.bottom);
  return { left: left - radius, right: left + radius, bottom: area.bottom - radius, top: area.top + radius };
}

function vertical(
  element: ResolvedElement & { readonly type: "textarea" | "textcontainer" },
  needed: number,
  size: number,
): { bottom: number; top: number } {
  const { bottom } = element;
  if (element.type === "textarea")
    return element.downward
      ? { bottom: bottom - needed, top: bottom }
      : { bottom: bottom - size, top: bottom + needed };
  const top = bottom + element.height;
  // Its letters shrink until they fit.
  if (element.isAutoresized) return { bottom, top };
  const over = Math.max(0, needed - element.height);
  return { bottom: bottom - over, top: top + over };
}

/** An upper bound: few letters are wider than capitals, and those of other scripts than two small letters. */
export function widthInEm(line: string): number {
  let sum = 0;
  for (const letter of line) sum += /[ -~]/.test(letter) ? (/[a-ln-vx-z.,:; -]/.test(letter) ? 0.65 : 1) : 1.4;
  return sum;
}

/** Lines are at least half full, except the last. */
function countLines(length: number, width: number): number {
  return length <= width ? 1 : Math.ceil((2 * length) / Math.max(width, 0.1)) + 1;
}
