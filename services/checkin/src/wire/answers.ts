import type { GivenAnswer, SentAnswer, StoredAnswer } from "@tessera/admission";
import type { Answer, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { type AnswersGiven, GivenAnswer as GivenAnswerOnWire } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import type { SentAnswer as SentAnswerOnWire } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { AnsweredPosition, KeptAnswer } from "../domain/kept-answer.ts";

type Answered = Pick<Position, "answers" | "answersRevision" | "awaitedFiles">;

/** Merges the answers given at gates that boxoffice has not applied yet into a position. */
export function withGivenAnswers<P extends Answered>(
  position: P,
  given: readonly Pick<KeptAnswer, "revision" | "state">[],
): P {
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

/** Finds up to which revision boxoffice has applied the answers to a question: 0 while it awaits a file. */
export function findAppliedUpTo(
  { answersRevision, awaitedFiles }: Omit<Answered, "answers">,
  question: number,
): number {
  if (awaitedFiles?.questions.includes(question) === true) return 0;
  return awaitedFiles?.answersUpTo ?? answersRevision ?? 0;
}

export function toStoredAnswers(answers: readonly Answer[]): ReadonlyMap<number, StoredAnswer> {
  return new Map(
    answers.map(({ question, answer, optionIdentifiers }) => [question, { text: answer, optionIdentifiers }]),
  );
}

/** Reads the answers that a scanner sends; values that are not JSON are ignored. */
export function toSentAnswers(answers: readonly SentAnswerOnWire[]): readonly SentAnswer[] {
  return answers.flatMap(({ question, value, file }) => {
    try {
      return [{ question, value: JSON.parse(value) as unknown, file: file ?? null }];
    } catch {
      return [];
    }
  });
}

/** Encodes an answer for its column. The revision has its own column, so that equal answers have equal bytes. */
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

export function toAnswersGiven({ organizer, event, id, answers }: AnsweredPosition): AnswersGiven {
  return {
    organizer,
    event,
    position: id,
    revision: Math.max(...answers.map(({ revision }) => revision)),
    answers: answers.map(({ revision, state }) => ({ ...GivenAnswerOnWire.decode(state), revision })),
  };
}
