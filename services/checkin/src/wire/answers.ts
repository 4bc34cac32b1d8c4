import type { Answer, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { type AnswersGiven, GivenAnswer as GivenAnswerOnWire } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import type { SentAnswer as SentAnswerOnWire } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { GivenAnswer, SentAnswer, StoredAnswer } from "../domain/questions/answer-questions.ts";
import type { AnsweredPosition, KeptAnswer } from "../domain/questions/kept-answer.ts";

/** Shows a position with the answers that it was given at gates and that boxoffice has not applied yet. */
export function withGivenAnswers(
  position: Position,
  given: readonly Pick<KeptAnswer, "revision" | "state">[],
): Position {
  const newer = given.filter(({ revision }) => revision > (position.answersRevision ?? 0));
  if (newer.length === 0) return position;
  const inOrder = newer.toSorted((one, other) => one.revision - other.revision);
  const byQuestion = new Map(
    inOrder.flatMap(({ revision, state }) => {
      const { question, answer } = GivenAnswerOnWire.decode(state);
      return revision > findAppliedUpTo(position, question) ? [[question, answer] as const] : [];
    }),
  );
  const kept = position.answers.filter(({ question }) => !byQuestion.has(question));
  return { ...position, answers: [...kept, ...[...byQuestion.values()].flatMap((answer) => answer ?? [])] };
}

/** Finds up to which revision boxoffice has applied the answers to a question: none, while it awaits a file for it. */
export function findAppliedUpTo({ answersRevision, awaitedFiles }: Position, question: number): number {
  if (awaitedFiles?.questions.includes(question) === true) return 0;
  return awaitedFiles?.answersUpTo ?? answersRevision ?? 0;
}

/** What is known already, by question. */
export function toStoredAnswers(answers: readonly Answer[]): ReadonlyMap<number, StoredAnswer> {
  return new Map(
    answers.map(({ question, answer, optionIdentifiers }) => [question, { text: answer, optionIdentifiers }]),
  );
}

/** Reads what a scanner sends; a value that is no JSON is ignored. */
export function toSentAnswers(answers: readonly SentAnswerOnWire[]): readonly SentAnswer[] {
  return answers.flatMap(({ question, value, file }) => {
    try {
      return [{ question, value: JSON.parse(value) as unknown, file: file ?? null }];
    } catch {
      return [];
    }
  });
}

/** Encodes an answer as it is stored. Its revision is stored beside it, so that the same answer has the same bytes. */
export function encodeGivenAnswer({ question, answer }: GivenAnswer): Uint8Array {
  if (answer === null) return GivenAnswerOnWire.encode({ question, revision: 0, answer: undefined }).finish();
  const { text, questionIdentifier, options, optionIdentifiers, file } = answer;
  return GivenAnswerOnWire.encode({
    question,
    revision: 0,
    answer: {
      question,
      answer: text,
      questionIdentifier,
      options: [...options],
      optionIdentifiers: [...optionIdentifiers],
      ...(file === null ? {} : { file: true }),
    },
    ...(file === null ? {} : { file: { ...file } }),
  }).finish();
}

/** Publishes all answers that a position was given at gates. */
export function toAnswersGiven({ organizer, event, id, answers }: AnsweredPosition): AnswersGiven {
  return {
    organizer,
    event,
    position: id,
    revision: Math.max(...answers.map(({ revision }) => revision)),
    answers: answers.map(({ revision, state }) => ({ ...GivenAnswerOnWire.decode(state), revision })),
  };
}
