import type { Source } from "../architecture/read-sources.ts";

/** A sentence of docs/rules that a test proves. */
export interface StatedRule {
  readonly id: string;
  readonly sentence: string;
  /** File and line. */
  readonly place: string;
}

/** An id that the title of a test names. */
export interface Proof {
  readonly id: string;
  readonly place: string;
}

const idForm = /^[A-Z]\d+\.\d+$/;

/** Reads the rules of a document: list items that begin in bold, with the lines that go on below them. */
export function readRules(path: string, text: string): StatedRule[] {
  const rules: { id: string; sentence: string; place: string }[] = [];
  let open: { sentence: string } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const [, id, sentence] = /^\s*[-*] \*\*(.+?)\*\*(.*)$/.exec(line) ?? [];
    if (id !== undefined && sentence !== undefined) {
      const rule = { id, sentence: sentence.trim(), place: `${path}:${index + 1}` };
      rules.push(rule);
      open = rule;
    } else if (/^\s+[^\s*-]/.test(line)) {
      if (open !== undefined) open.sentence = `${open.sentence} ${line.trim()}`.trim();
    } else {
      open = undefined;
    }
  }
  return rules;
}

/** Reads the ids in the titles of a file's tests, those of `describe` and of tables included. */
export function readProofs(source: Source): Proof[] {
  return findTitles(source).flatMap(({ title, line }) =>
    [...title.matchAll(/\[([^\]]*)\]/g)]
      .map(([, inside]) => inside ?? "")
      .filter((inside) => /\b[A-Z]\d+\.\d+\b/.test(inside))
      .flatMap((inside) => inside.split(",").map((id) => ({ id: id.trim(), place: `${source.path}:${line}` }))),
  );
}

/** Says in a sentence each what keeps rules and tests from matching. */
export function findRuleGaps(rules: readonly StatedRule[], proofs: readonly Proof[]): string[] {
  const places = new Map<string, string[]>();
  for (const { id, place } of rules) places.set(id, [...(places.get(id) ?? []), place]);
  const proven = new Set(proofs.map(({ id }) => id));
  return [
    ...rules.filter(({ id }) => !idForm.test(id)).map(({ id, place }) => `${place} “${id}” is no id like A5.2`),
    ...rules.filter(({ sentence }) => !/\w/.test(sentence)).map(({ id, place }) => `${place} ${id} says nothing`),
    ...[...places].filter(([, at]) => at.length > 1).map(([id, at]) => `${at.join(" and ")} are both called ${id}`),
    ...rules.filter(({ id }) => !proven.has(id)).map(({ id, place }) => `${place} ${id} has no test`),
    ...proofs.filter(({ id }) => !places.has(id)).map(({ id, place }) => `${place} no document has the rule ${id}`),
  ];
}

/** Finds the first argument of every `it`, `test` and `describe`, where it is written out. */
function findTitles({ code, bare }: Source): { title: string; line: number }[] {
  return [...bare.matchAll(/(?<![.\w$])(?:it|test|describe)((?:\.\w+)*)(?=[(<`])/g)].flatMap((head) => {
    let at = skipTypes(bare, head.index + head[0].length);
    if (/\.(?:each|for|runIf|skipIf)$/.test(head[1] ?? "")) at = skipTypes(bare, skipGroup(bare, at));
    if (bare[at] !== "(") return [];
    const start = at + 1 + (/^\s*/.exec(bare.slice(at + 1))?.[0].length ?? 0);
    const quote = bare.charAt(start);
    if (!['"', "'", "`"].includes(quote)) return [];
    // What stands inside a literal is blank here, an escaped quote too.
    const end = bare.indexOf(quote, start + 1);
    return [{ title: code.slice(start + 1, end), line: code.slice(0, start).split("\n").length }];
  });
}

/** Goes past type arguments. */
function skipTypes(bare: string, from: number): number {
  if (bare[from] !== "<") return from;
  let depth = 0;
  for (let at = from; at < bare.length; at++) {
    if (bare[at] === "<") depth++;
    // That of an arrow closes nothing.
    if (bare[at] === ">" && bare[at - 1] !== "=" && --depth === 0) return at + 1;
  }
  return bare.length;
}

/** Goes past arguments in parentheses, or past a table in a template. */
function skipGroup(bare: string, from: number): number {
  if (bare[from] === "`") return bare.indexOf("`", from + 1) + 1;
  let depth = 0;
  for (let at = from; at < bare.length; at++) {
    if (bare[at] === "(") depth++;
    if (bare[at] === ")" && --depth === 0) return at + 1;
  }
  return bare.length;
}
