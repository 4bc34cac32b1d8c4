/**
 * A position has answers from its record, in `position.state`, and answers from gates: `gate_answer` has a row for each
 * question that a gate answered. They are merged whenever a position is published:
 *
 * | Row                          | Answer of the position                          |
 * |------------------------------|-------------------------------------------------|
 * | none                         | the record's                                    |
 * | `revision` and `answer`      | the row's                                       |
 * | `revision`, but no `answer`  | none: it was removed at a gate                  |
 * | only `awaited_revision`      | the record's, as long as the file is not copied |
 *
 * | Event                                   | Row afterwards                                             |
 * |-----------------------------------------|------------------------------------------------------------|
 * | a gate answers or removes the answer    | that; no file is awaited                                   |
 * | a gate answers with a file              | as before, and its file is awaited                         |
 * | the awaited file was copied             | that answer; no file is awaited                            |
 * | the awaited file cannot be copied       | as before, no file is awaited; deleted without `revision`  |
 * | the record changes its answer           | deleted                                                    |
 * | the record repeats it, or leaves it out | as before                                                  |
 */
export interface GateAnswer<A> {
  readonly question: number;
  readonly revision: number | null;
  readonly answer: A | null;
  readonly awaitedRevision: number | null;
}

/** The gate answers of a position. */
export interface GateAnswers<A> {
  /** All gate answers up to this revision are stored. */
  readonly upTo: number;
  readonly answers: readonly GateAnswer<A>[];
}

interface Answered<A> {
  readonly answers: readonly A[];
}

interface MergedUpTo {
  readonly answersRevision: number;
  readonly awaitedFiles?: { readonly answersUpTo: number; readonly questions: number[] };
}

/**
 * Merges gate answers into a position: after the record's answers, ordered by question, so that equal answers have
 * equal bytes. `answersRevision` stays below that of each awaited file, for readers that do not know `awaitedFiles`.
 */
export function mergeAnswers<A extends { readonly question: number }, P extends Answered<A>>(
  position: P,
  { upTo, answers }: GateAnswers<A>,
): P & MergedUpTo {
  const decided = new Set(answers.flatMap(({ question, revision }) => (revision === null ? [] : [question])));
  const recorded = position.answers.filter(({ question }) => !decided.has(question));
  const given = answers.flatMap(({ answer }) => answer ?? []).sort((one, other) => one.question - other.question);
  const merged = { ...position, answers: [...recorded, ...given] };
  const awaited = answers.flatMap(({ question, awaitedRevision }) =>
    awaitedRevision === null ? [] : [{ question, below: awaitedRevision - 1 }],
  );
  if (awaited.length === 0) return { ...merged, answersRevision: upTo };
  return {
    ...merged,
    answersRevision: Math.min(upTo, ...awaited.map(({ below }) => below)),
    awaitedFiles: {
      answersUpTo: upTo,
      questions: awaited.map(({ question }) => question).sort((one, other) => one - other),
    },
  };
}

export interface RecordedAnswer {
  readonly question: number;
  readonly answer: string;
  readonly options: readonly number[];
}

/** Finds the questions that a record answers differently than the previous record. */
export function findChanged(before: readonly RecordedAnswer[], now: readonly RecordedAnswer[]): number[] {
  const former = contents(before);
  return [...contents(now)].flatMap(([question, content]) => (former.get(question) === content ? [] : [question]));
}

/** Grouped by question: a record may answer a question more than once. */
function contents(answers: readonly RecordedAnswer[]): ReadonlyMap<number, string> {
  const byQuestion = Map.groupBy(answers, ({ question }) => question);
  return new Map([...byQuestion].map(([question, all]) => [question, JSON.stringify(all.map(contentOf).sort())]));
}

function contentOf({ answer, options }: RecordedAnswer): string {
  return JSON.stringify([answer, options.toSorted((one, other) => one - other)]);
}
