import { closeBrace, closeBracket, comma, endOfString, openBrace, openBracket, quote } from "./nesting.ts";

/**
 * The JSON text of some fields of a valid object, as they were sent: parsing turns `1.0` into 1, and rounds long
 * numbers. Of a repeated field the last counts, as in parsing.
 */
export function fieldTexts(json: string, wanted: ReadonlySet<string>): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  let depth = 0;
  let isValue = false;
  let name: string | undefined;
  let start = 0;
  const end = (at: number) => {
    if (name !== undefined) texts.set(name, json.slice(start, at).trim());
    name = undefined;
    isValue = false;
  };
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      const last = endOfString(json, at);
      if (depth === 1 && !isValue) {
        const found = nameIn(json.slice(at + 1, last));
        if (wanted.has(found)) name = found;
        isValue = true;
        at = json.indexOf(":", last);
        start = at + 1;
      } else at = last;
    } else if (code === openBrace || code === openBracket) depth += 1;
    else if (code === closeBrace || code === closeBracket) {
      depth -= 1;
      if (depth === 0) end(at);
    } else if (code === comma && depth === 1) end(at);
  }
  return texts;
}

function nameIn(quoted: string): string {
  return quoted.includes("\\") ? (JSON.parse(`"${quoted}"`) as string) : quoted;
}
