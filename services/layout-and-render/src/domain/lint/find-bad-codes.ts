import { type CodeSymbol, type EncodeSymbol, modulesAcross } from "../code-symbol.ts";
import type { BarcodeArea, LayoutElement } from "../elements/element.ts";
import { type Finding, showLength } from "./finding.ts";

/** In millimetres; scanners have trouble with smaller modules. */
const smallestModule = 0.4;

interface Code {
  readonly index: number;
  readonly element: BarcodeArea;
  readonly value: string;
  /** Undefined: no code of this kind can hold the value. */
  readonly symbol: CodeSymbol | undefined;
  /** How many modules `size` spans. */
  readonly modules: number;
}

/**
 * Finds codes that scanners cannot read: modules too small, or another code in the quiet zone. All values of an element
 * that may need the largest code are checked.
 */
export function findBadCodes(
  elements: readonly LayoutElement[],
  { valuesOf, encode }: { readonly valuesOf: (index: number) => readonly string[]; readonly encode: EncodeSymbol },
): Finding[] {
  const codes = elements.flatMap((element, index): Code[] => {
    if (element.type !== "barcodearea" || !(element.size > 0)) return [];
    const sized = valuesOf(index).map((value) => {
      const symbol = encode(element.symbology, value);
      const modules = symbol === undefined ? Number.MAX_VALUE : modulesAcross(symbol, element);
      return { index, element, value, symbol, modules };
    });
    return sized.sort((one, other) => other.modules - one.modules).slice(0, 1);
  });
  return [...codes.flatMap(findUnreadable), ...findOverlaps(codes)];
}

function findUnreadable({ index, element, value, symbol, modules }: Code): Finding[] {
  const { length } = [...value];
  if (symbol === undefined)
    return [
      {
        element: index,
        code: "code_too_long",
        message: `No code of its kind can say its ${length} characters. Choose another kind, or a shorter content.`,
      },
    ];
  const module = element.size / modules;
  // Sizes are written with few decimals.
  if (module > smallestModule - 0.0005) return [];
  // In floating point, 41 times 0.4 is a little more than 16.4.
  const least = Math.ceil(modules * smallestModule * 10 - 1e-6) / 10;
  // Rounded down: a module that is too small must not look large enough.
  const shown = (Math.floor(module * 100) / 100).toFixed(2);
  const message = `With ${length} characters one module is ${shown} mm wide, and scanners need ${smallestModule} mm: make the code at least ${showLength(least)} large.`;
  return [{ element: index, code: "code_too_small", message }];
}

function findOverlaps(codes: readonly Code[]): Finding[] {
  return codes.flatMap((code, place) => {
    const earlier = codes.slice(0, place).find((other) => doOverlap(code, other));
    if (earlier === undefined) return [];
    const message = `It lies on the code of element ${earlier.index + 1}, or on the zone around it that must stay free. Move one of them.`;
    return [{ element: code.index, code: "overlapping_codes", message }];
  });
}

function doOverlap(one: Code, other: Code): boolean {
  if (one.element.page !== other.element.page) return false;
  const [a, b] = [zoneOf(one), zoneOf(other)];
  return a.left < b.right && b.left < a.right && a.bottom < b.top && b.bottom < a.top;
}

/** A code with its quiet zone, also if that is outside of its size. */
function zoneOf({ element: { left, bottom, size, hasQuietZone }, symbol, modules }: Code) {
  const free = hasQuietZone ? 0 : ((symbol?.quietZone ?? 0) * size) / modules;
  return { left: left - free, right: left + size + free, bottom: bottom - free, top: bottom + size + free };
}
