import type { Question } from "./question.ts";
import { type AnswerRead, type Reader, readAnswer, type SentFile } from "./read-answer.ts";

export type { Reader, SentFile } from "./read-answer.ts";

/** A value that a scanner sends for a question. */
export interface SentAnswer {
  readonly question: number;
  /** Any JSON value. */
  readonly value: unknown;
  /** The upload that the value names. */
  readonly file: SentFile | null;
}

export interface StoredAnswer {
  readonly text: string;
  readonly optionIdentifiers: readonly string[];
}

/** A change of what a ticket answers. */
export interface GivenAnswer {
  readonly question: number;
  /** Null: a stored answer is deleted. */
  readonly answer: {
    readonly text: string;
    readonly questionIdentifier: string;
    readonly options: readonly number[];
    readonly optionIdentifiers: readonly string[];
    readonly file: SentFile | null;
  } | null;
}

type Outcome =
  | { readonly kind: "given"; readonly answer: NonNullable<GivenAnswer["answer"]> }
  | { readonly kind: "stored"; readonly answer: StoredAnswer }
  | { readonly kind: "taken_back" | "left_empty" | "missing" | "not_asked" };

interface Asking {
  /** The questions asked at check-in for the ticket's item, in order. */
  readonly questions: readonly Question[];
  readonly sent: readonly SentAnswer[];
  readonly stored: ReadonlyMap<number, StoredAnswer>;
  readonly reader: Reader;
}

/**
 * Returns how a scan changes the answers of a ticket, and which questions it leaves open.
 *
 * A value that its question does not allow counts as not sent; so does a value for a question that is not asked.
 */
export function answerQuestions(about: Asking): {
  readonly given: readonly GivenAnswer[];
  readonly missing: readonly Question[];
} {
  const given: GivenAnswer[] = [];
  const missing: Question[] = [];
  const outcomes = decideAll(about);
  for (const question of about.questions) {
    const outcome = outcomes.get(question.id);
    if (outcome?.kind === "given") given.push({ question: question.id, answer: outcome.answer });
    if (outcome?.kind === "taken_back") given.push({ question: question.id, answer: null });
    if (outcome?.kind === "missing") missing.push(question);
  }
  return { given, missing };
}

function decideAll({ questions, sent, stored, reader }: Asking): ReadonlyMap<number, Outcome> {
  const outcomes = new Map<number, Outcome>();
  if (questions.length === 0) return outcomes;
  const byId = new Map(questions.map((question) => [question.id, question]));
  const sentTo = new Map(sent.map((answer) => [answer.question, answer]));

  const isAsked = ({ dependsOn, dependencyValues }: Question): boolean => {
    if (dependsOn === null) return true;
    const answer = byId.has(dependsOn) ? answerOf(outcomes.get(dependsOn)) : stored.get(dependsOn);
    return answer !== undefined && matches(answer, dependencyValues);
  };
  const decide = (question: Question): Outcome => {
    if (!isAsked(question)) return { kind: "not_asked" };
    const value = sentTo.get(question.id);
    const reading = value === undefined ? "refused" : readAnswer(question, value, reader);
    const before = stored.get(question.id);
    if (reading === "empty") return { kind: before === undefined ? "left_empty" : "taken_back" };
    if (reading !== "refused") return { kind: "given", answer: toAnswer(question, reading) };
    return before === undefined ? { kind: "missing" } : { kind: "stored", answer: before };
  };

  for (const question of questions) {
    for (const each of chainOf(question, byId, outcomes)) outcomes.set(each.id, decide(each));
  }
  return outcomes;
}

/**
 * Lists the questions that decide whether a question is asked, each after the question it depends on.
 *
 * Questions in a dependency cycle are not asked: the first of them depends on a question without an outcome.
 */
function chainOf(
  question: Question,
  byId: ReadonlyMap<number, Question>,
  decided: ReadonlyMap<number, Outcome>,
): Question[] {
  const chain = new Set<Question>();
  let next: Question | undefined = question;
  while (next !== undefined && !decided.has(next.id) && !chain.has(next)) {
    chain.add(next);
    next = next.dependsOn === null ? undefined : byId.get(next.dependsOn);
  }
  return [...chain].reverse();
}

function answerOf(outcome: Outcome | undefined): StoredAnswer | undefined {
  return outcome !== undefined && "answer" in outcome ? outcome.answer : undefined;
}

function matches({ text, optionIdentifiers }: StoredAnswer, values: readonly string[]): boolean {
  return optionIdentifiers.length > 0
    ? optionIdentifiers.some((identifier) => values.includes(identifier))
    : values.includes(text);
}

function toAnswer(question: Question, { text, options, file }: AnswerRead): NonNullable<GivenAnswer["answer"]> {
  return {
    text,
    questionIdentifier: question.identifier,
    options: options.map(({ id }) => id),
    optionIdentifiers: options.map(({ identifier }) => identifier),
    file,
  };
}
