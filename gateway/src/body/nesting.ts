/** Deeper than any API needs, and far below a stack overflow. */
export const deepestNesting = 64;

/** What a JSON text has too much of: `levels` of arrays and objects, or `values`; undefined: nothing. It is not parsed for that. */
export function findExcess(json: string, mostValues: number): "levels" | "values" | undefined {
  // Each level takes an opening and a closing character, and each value its own and what divides it from the next one.
  if (json.length <= Math.min(2 * deepestNesting, 2 * mostValues)) return undefined;
  let depth = 0;
  let values = 1;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfString(json, at);
    else if (code === comma) values += 1;
    else if (code === openBracket || code === openBrace) {
      depth += 1;
      values += 1;
      if (depth > deepestNesting) return "levels";
    } else if (code === closeBracket || code === closeBrace) depth -= 1;
    if (values > mostValues) return "values";
  }
  return undefined;
}

export const quote = 0x22;
const backslash = 0x5c;
export const comma = 0x2c;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** The index of the quote that ends the string which begins here. */
export function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}
