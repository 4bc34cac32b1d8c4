import { widthInEm } from "../drawing/may-cover.ts";
import { type Redundancy, redundancyOf } from "../drawing/qr-code.ts";
import type { ResolvedElement } from "../elements/resolved-element.ts";

type Measure = (value: string) => number;

/** In which ways a text may be the one that does not fit. */
const measures: readonly Measure[] = [
  widthInEm,
  (value) => value.split("\n").length,
  (value) => Math.max(...value.split("\n").map(widthInEm)),
  (value) => Math.max(...value.split(/\s/).map(widthInEm)),
];

/** In letters, of values that are not measured again: a thousand tickets full of others would fill the memory. */
const mostRemembered = 5_000_000;

/** What was longest in one way, of each element. */
interface Longest {
  readonly measure: Measure;
  readonly elements: ResolvedElement[];
  readonly sizes: number[];
}

/** Remembers what is longest among the values of each element on any number of tickets. */
export class LongestValues {
  readonly #ways: readonly Longest[] = measures.map((measure) => ({ measure, elements: [], sizes: [] }));
  readonly #codes = new Map<number, Map<Redundancy, string>>();
  readonly #seen = new Set<string>();
  #room = mostRemembered;

  add(elements: readonly ResolvedElement[]): void {
    for (const [index, element] of elements.entries()) {
      const value = "value" in element ? element.value : "";
      // Most values are the same on many tickets.
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

  /** Tickets that do not exist: on each, every element has what is longest of it in one way. */
  tickets(): readonly (readonly ResolvedElement[])[] {
    return this.#ways.map(({ elements }) => elements);
  }

  /** Of an element the values that may need the largest code. */
  codesOf(index: number): readonly string[] {
    return [...(this.#codes.get(index)?.values() ?? [])];
  }

  #addCode(index: number, value: string): void {
    const longest = this.#codes.get(index) ?? new Map<Redundancy, string>();
    this.#codes.set(index, longest);
    // A longer value with less redundancy may need a smaller code.
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
