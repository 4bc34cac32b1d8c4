import { closeBrace, closeBracket, comma, endOfString, openBrace, openBracket, quote } from "./nesting.ts";

/**
 * The JSON text of some fields of a valid object, as they were sent: parsing turns `1.0` into 1, and rounds long
 * numbers. Of a repeated field the last counts, as in parsing.
 */
export function fieldTexts(json: string, wanted: ReadonlySet<string>): ReadonlyMap<string, string> {
  return new Map(
    Array.from(fieldSpans(json, wanted), ([name, { start, end }]) => [name, json.slice(start, end).trim()]),
  );
}

/** Where in the text a value begins and ends, with the blanks around it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where the values of some fields of an object are. In a text that is no object they are anywhere. */
export function fieldSpans(json: string, wanted: ReadonlySet<string>): ReadonlyMap<string, Span> {
  const spans = new Map<string, Span>();
  let depth = 0;
  let isValue = false;
  let name: string | undefined;
  let start = 0;
  const end = (at: number) => {
    if (name !== undefined) spans.set(name, { start, end: at });
    name = undefined;
    isValue = false;
  };
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      const last = endOfString(json, at);
      if (depth === 1 && !isValue) {
        const colon = json.indexOf(":", last);
        if (colon === -1) break;
        const found = nameIn(json.slice(at + 1, last));
        if (wanted.has(found)) name = found;
        isValue = true;
        at = colon;
        start = at + 1;
      } else at = last;
    } else if (code === openBrace || code === openBracket) depth += 1;
    else if (code === closeBrace || code === closeBracket) {
      depth -= 1;
      if (depth === 0) end(at);
    } else if (code === comma && depth === 1) end(at);
  }
  return spans;
}

function nameIn(quoted: string): string {
  if (!quoted.includes("\\")) return quoted;
  try {
    return JSON.parse(`"${quoted}"`) as string;
  } catch {
    return quoted;
  }
}
