import { widthInEm } from "../drawing/may-cover.ts";
import { type Redundancy, redundancyOf } from "../drawing/qr-code.ts";
import type { ResolvedElement } from "../elements/resolved-element.ts";

type Measure = (value: string) => number;

/** Measures of length: the text that does not fit is the longest by one of them. */
const measures: readonly Measure[] = [
  widthInEm,
  (value) => value.split("\n").length,
  (value) => Math.max(...value.split("\n").map(widthInEm)),
  (value) => Math.max(...value.split(/\s/).map(widthInEm)),
];

/** In letters, of cached values: distinct values of a thousand tickets would exhaust memory. */
const mostRemembered = 5_000_000;

/** The longest value by one measure, of each element. */
interface Longest {
  readonly measure: Measure;
  readonly elements: ResolvedElement[];
  readonly sizes: number[];
}

/** Collects the longest values of each element over any number of tickets. */
export class LongestValues {
  readonly #ways: readonly Longest[] = measures.map((measure) => ({ measure, elements: [], sizes: [] }));
  readonly #codes = new Map<number, Map<Redundancy, string>>();
  readonly #seen = new Set<string>();
  #room = mostRemembered;

  add(elements: readonly ResolvedElement[]): void {
    for (const [index, element] of elements.entries()) {
      const value = "value" in element ? element.value : "";
      // Most values repeat on many tickets.
      const key = `${index} ${value}`;
      if (this.#seen.has(key)) continue;
      if (value.length <= this.#room) {
        this.#seen.add(key);
        this.#room -= value.length;
      }
      for (const longest of this.#ways) replaceShorter(longest, { index, element, size: longest.measure(value) });
      if (element.type === "barcodearea") this.#addCode(index, value);
    }
  }

  /** Synthetic tickets: each has the longest values of all elements by one measure. */
  tickets(): readonly (readonly ResolvedElement[])[] {
    return this.#ways.map(({ elements }) => elements);
  }

  /** The values of an element that may need the largest code. */
  codesOf(index: number): readonly string[] {
    return [...(this.#codes.get(index)?.values() ?? [])];
  }

  #addCode(index: number, value: string): void {
    const longest = this.#codes.get(index) ?? new Map<Redundancy, string>();
    this.#codes.set(index, longest);
    // A longer value with lower error correction may need a smaller code.
    const level = redundancyOf(value);
    if (value.length > (longest.get(level)?.length ?? 0)) longest.set(level, value);
  }
}

function replaceShorter(
  { elements, sizes }: Longest,
  { index, element, size }: { readonly index: number; readonly element: ResolvedElement; readonly size: number },
): void {
  if (size <= (sizes[index] ?? -1)) return;
  sizes[index] = size;
  elements[index] = element;
}
