import type { KnownQuestion } from "./known.ts";

interface Answer {
  readonly question_identifier: string;
  readonly options: readonly number[];
  readonly option_identifiers: string[];
}

/** Adds the identifiers of question and options to an answer whose record leaves them out. */
export function nameAnswer<A extends Answer>(answer: A, question: KnownQuestion | undefined): A {
  const { question_identifier, options, option_identifiers } = answer;
  if (question === undefined) return answer;
  const isNamed = option_identifiers.length > 0 || options.length === 0;
  if (question_identifier !== "" && isNamed) return answer;
  return {
    ...answer,
    question_identifier: question_identifier || question.identifier,
    option_identifiers: isNamed ? option_identifiers : options.map((id) => question.options[id] ?? String(id)),
  };
}
