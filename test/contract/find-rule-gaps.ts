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

/** Reads the ids that the titles of a file's tests begin with: `it("[A1.1, R1.1] …")`, also behind a table. */
export function readProofs({ path, text }: Source): Proof[] {
  const title = /^(.*)(?:\b(?:it|test|describe)(?:\.\w+)*|[)`])\(\s*["'`]\[([^\]]*[A-Z]\d+\.\d+[^\]]*)\]/gm;
  return [...text.matchAll(title)].flatMap(({ 0: found, 1: before = "", 2: ids = "", index }) => {
    if (before.includes("//")) return [];
    const line = text.slice(0, index + found.length).split("\n").length;
    return ids.split(",").map((id) => ({ id: id.trim(), place: `${path}:${line}` }));
  });
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
