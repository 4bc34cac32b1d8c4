/** Deeper than any API needs, and far below a stack overflow. */
export const deepestNesting = 64;

export const quote = 0x22;
const backslash = 0x5c;
export const comma = 0x2c;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** Scans a JSON text without parsing, from one structural character to the next. */
export class JsonScan {
  readonly #json: string;
  #at: number;
  #depth: number;
  #values = 0;

  /** Begins at `start`, at this nesting depth. */
  constructor(json: string, { start = 0, depth = 0 } = {}) {
    this.#json = json;
    this.#at = start - 1;
    this.#depth = depth;
  }

  /** The index of the last found character. */
  get at(): number {
    return this.#at;
  }

  get depth(): number {
    return this.#depth;
  }

  /** The number of values: arrays, objects, and separators. */
  get values(): number {
    return this.#values;
  }

  /** Finds the next structural character outside of strings; undefined: no more follow. */
  next(): number | undefined {
    const json = this.#json;
    for (let at = this.#at + 1; at < json.length; at += 1) {
      const code = json.charCodeAt(at);
      if (code === quote) {
        at = endOfString(json, at);
        continue;
      }
      const opens = code === openBracket || code === openBrace;
      const closes = code === closeBracket || code === closeBrace;
      if (!opens && !closes && code !== comma) continue;
      if (closes) this.#depth -= 1;
      else this.#values += 1;
      if (opens) this.#depth += 1;
      this.#at = at;
      return code;
    }
    this.#at = json.length;
    return undefined;
  }
}

/** Which limit a JSON text exceeds: `levels` of nesting, or `values`; undefined: none. The text is not parsed. */
export function findExcess(json: string, mostValues: number): "levels" | "values" | undefined {
  // A shorter text cannot exceed a limit: each level takes two characters, and each value itself and a separator.
  if (json.length <= Math.min(2 * deepestNesting, 2 * mostValues)) return undefined;
  const scan = new JsonScan(json);
  while (scan.next() !== undefined) {
    if (scan.depth > deepestNesting) return "levels";
    if (scan.values >= mostValues) return "values";
  }
  return undefined;
}

/** The index of the closing quote of the string that begins here. */
export function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}
