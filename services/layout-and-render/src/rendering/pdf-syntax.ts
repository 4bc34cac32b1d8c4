/** Where a string in parentheses ends: they may be nested, and escaped. */
function endOfString(text: string, at: number): number {
  let depth = 0;
  for (let index = at; index < text.length; index += 1) {
    const letter = text[index];
    if (letter === "\\") index += 1;
    else if (letter === "(") depth += 1;
    else if (letter === ")") depth -= 1;
    if (depth === 0) return index + 1;
  }
  throw new Error("a string does not end");
}

/** What matters in the text of an object: strings and comments, which hide everything else, brackets, references, keywords. */
const tokens = /[(%]|<<|>>|<[^<>]*>|[[\]]|\d+ \d+ R(?![\w.])|stream|endobj/g;

function* tokensOf(text: string, from: number): Generator<{ readonly token: string; readonly at: number }> {
  const pattern = new RegExp(tokens);
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [token] = match;
    if (token === "(") pattern.lastIndex = endOfString(text, match.index);
    else if (token === "%") pattern.lastIndex = text.slice(match.index).search(/[\r\n]|$/) + match.index;
    else yield { token, at: match.index };
  }
}

/** The text of an object from its beginning up to a keyword outside of all brackets. */
export function endOfObject(text: string, from: number): { readonly end: number; readonly isStream: boolean } {
  let depth = 0;
  for (const { token, at } of tokensOf(text, from)) {
    if (token === "<<" || token === "[") depth += 1;
    else if (token === ">>" || token === "]") depth -= 1;
    else if (depth === 0 && (token === "stream" || token === "endobj"))
      return { end: at, isStream: token === "stream" };
  }
  throw new Error("an object does not end");
}

/** Whether something in a text may hide a reference: most have no strings and no comments. */
const hiding = /[(%]/;
const reference = /\d+ \d+ R(?![\w.])/g;

/** The numbers of the objects that a text refers to. */
export function referencesIn(text: string): number[] {
  if (!hiding.test(text)) return Array.from(text.matchAll(reference), ([found]) => Number.parseInt(found, 10));
  return [...tokensOf(text, 0)]
    .filter(({ token }) => token.endsWith("R"))
    .map(({ token }) => Number.parseInt(token, 10));
}

/** Puts other numbers into all references of a text. */
export function renumber(text: string, numberOf: (number: number) => number): string {
  if (!hiding.test(text)) return text.replaceAll(reference, (found) => `${numberOf(Number.parseInt(found, 10))} 0 R`);
  let result = "";
  let done = 0;
  for (const { token, at } of tokensOf(text, 0)) {
    if (!token.endsWith("R")) continue;
    result += `${text.slice(done, at)}${numberOf(Number.parseInt(token, 10))} 0 R`;
    done = at + token.length;
  }
  return result + text.slice(done);
}

/** A value without brackets: a reference, a name, a number, a keyword, or a string in hexadecimal. */
const simple = /\d+ \d+ R(?![\w.])|\/[^\s/<>[\]()%]*|<[^<>]*>|[^\s/<>[\]()%]+/y;
const blank = /(?:\s|%[^\r\n]*)*/y;

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function endOfValue(text: string, at: number): number {
  if (text[at] === "(") return endOfString(text, at);
  if (text[at] !== "[" && !text.startsWith("<<", at)) {
    const value = matchAt(simple, text, at) ?? "";
    if (value === "") throw new Error("a value is missing");
    return at + value.length;
  }
  let depth = 0;
  for (const { token, at: where } of tokensOf(text, at)) {
    if (token === "<<" || token === "[") depth += 1;
    else if (token === ">>" || token === "]") depth -= 1;
    if (depth === 0) return where + token.length;
  }
  throw new Error("a value does not end");
}

/** The entries of a dictionary, by their names without the slash, in order. */
export function entriesOf(dictionary: string): Map<string, string> {
  const entries = new Map<string, string>();
  const skip = (at: number) => at + (matchAt(blank, dictionary, at) ?? "").length;
  let at = skip(dictionary.indexOf("<<") + 2);
  while (dictionary[at] === "/") {
    const name = matchAt(simple, dictionary, at) ?? "";
    const begin = skip(at + name.length);
    const end = endOfValue(dictionary, begin);
    entries.set(name.slice(1), dictionary.slice(begin, end));
    at = skip(end);
  }
  return entries;
}

/** The value of a key in a dictionary; undefined: it has no such key. */
export function findValue(dictionary: string, key: string): string | undefined {
  return entriesOf(dictionary).get(key);
}
