import { isCounting, isDeciding, isOperator, isVariable, operandsOf } from "./rule-words.ts";

/** Far deeper than people nest, and far from a stack overflow. Objects and lists are a level each. */
const deepest = 50;

/** A thousand products by name, and few enough to be judged while a visitor waits. */
const mostValues = 5000;

/** The names of a thousand products. The rules of many lists are cached in memory. */
const mostCharacters = 100_000;

const longestQuote = 50;

/** A position in the rules, and its ancestors. */
interface RulePosition {
  readonly path: string;
  readonly depth: number;
  /** Whether it is below an operator other than `and` and `or`. */
  readonly isOperand: boolean;
}

/** The counts so far. */
interface Seen {
  values: number;
  characters: number;
}

/** Returns what is wrong with the rules of a list, and where; undefined: the rules can be judged. */
export function checkRules(rules: unknown): string | undefined {
  const seen: Seen = { values: 0, characters: 0 };
  return checkValue(rules, { path: "rules", depth: 1, isOperand: false }, seen);
}

function checkValue(value: unknown, position: RulePosition, seen: Seen): string | undefined {
  const problem = checkSize(value, position, seen);
  if (problem !== undefined || typeof value !== "object" || value === null) return problem;
  return Array.isArray(value) ? checkContents(value, position, seen) : checkOperation(value, position, seen);
}

/** A list in a position without operands is a constant: only its size is limited. */
function checkContents(list: object, position: RulePosition, seen: Seen): string | undefined {
  const below = { ...position, depth: position.depth + 1 };
  for (const value of Object.values(list) as unknown[]) {
    const problem =
      checkSize(value, below, seen) ??
      (typeof value === "object" && value !== null ? checkContents(value, below, seen) : undefined);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkSize(value: unknown, position: RulePosition, seen: Seen): string | undefined {
  seen.values += 1;
  if (typeof value === "string") seen.characters += value.length;
  if (seen.values > mostValues) return `The rules consist of more than ${mostValues} values.`;
  if (seen.characters > mostCharacters) return `The texts in the rules have more than ${mostCharacters} characters.`;
  const isNested = typeof value === "object" && value !== null;
  return isNested && position.depth > deepest ? `The rules nest deeper than ${deepest} levels.` : undefined;
}

function checkOperation(operation: object, position: RulePosition, seen: Seen): string | undefined {
  const entries = Object.entries(operation) as [string, unknown][];
  const [first] = entries;
  if (first === undefined) return undefined;
  const at = `At ${position.path}: `;
  if (entries.length > 1) {
    return `${at}an operation is an object with one key, its operator; this one has ${entries.length}.`;
  }
  const [operator, given] = first;
  if (!isOperator(operator)) return `${at}there is no operator ${quote(operator)}.`;
  if (position.depth === 1 && !isDeciding(operator)) {
    return `${at}${quote(operator)} decides nothing by itself; compare it with something.`;
  }
  const joins = operator === "and" || operator === "or";
  if (joins && position.isOperand)
    return `${at}${quote(operator)} cannot stand below another operator than "and" and "or".`;
  const operands = operandsOf(given);
  if (operator === "var" && !isVariable(operands[0])) {
    return `${at}there is no variable ${quote(operands[0])}.`;
  }
  if (isCounting(operator) && !(operands.length === 1 && isTime(operands[0]))) {
    return `${at}${quote(operator)} takes one operand, which is a "buildTime".`;
  }
  const isList = Array.isArray(given);
  for (const [index, operand] of operands.entries()) {
    const path = `${position.path}.${operator}${isList ? `[${index}]` : ""}`;
    const problem = checkValue(
      operand,
      { path, depth: position.depth + (isList ? 2 : 1), isOperand: position.isOperand || !joins },
      seen,
    );
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isTime(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "buildTime");
}

function quote(word: unknown): string {
  if (typeof word !== "string") return word === undefined ? "without a name" : "whose name is no text";
  const letters = [...word];
  return JSON.stringify(letters.length > longestQuote ? `${letters.slice(0, longestQuote).join("")}…` : word);
}
