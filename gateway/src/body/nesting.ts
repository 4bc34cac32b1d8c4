/** Deeper than any API needs, and far below a stack overflow. */
export const deepestNesting = 64;

/** Tells whether a JSON text nests arrays and objects deeper than allowed, without parsing it. */
export function nestsTooDeep(json: string): boolean {
  // Each level takes an opening and a closing character.
  if (json.length <= deepestNesting * 2) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfString(json, at);
    else if (code === openBracket || code === openBrace) {
      depth += 1;
      if (depth > deepestNesting) return true;
    } else if (code === closeBracket || code === closeBrace) depth -= 1;
  }
  return false;
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
