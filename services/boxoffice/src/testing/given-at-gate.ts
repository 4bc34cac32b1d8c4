import { randomUUID } from "node:crypto";
import type { Db } from "@tessera/kit/pg/database";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { AnswersGiven, GivenAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import type { SentFile } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { entityKey, topics } from "@tessera/protos/topics";
import { startForTest } from "@tessera/testkit/start-for-test";
import { boxoffice } from "../index.ts";
import * as positions from "../store/positions.ts";
import { encodePosition } from "../wire/position-fact.ts";

/** An answer to a question, as a gate publishes it; without a text it is deleted. */
export function given(question: number, revision: number, text?: string, file?: Partial<SentFile>): GivenAnswer {
  if (text === undefined) return { question, revision, answer: undefined };
  const answer = { question, answer: text, questionIdentifier: `Q${question}`, options: [], optionIdentifiers: [] };
  if (file === undefined) return { question, revision, answer };
  const sent = { upload: randomUUID(), name: "me.png", contentType: "image/png", size: 7, sha256: "", ...file };
  return { question, revision, answer: { ...answer, file: true }, file: sent };
}

export function answersFact(answers: readonly GivenAnswer[], changes: Partial<AnswersGiven> = {}): AnswersGiven {
  const revision = Math.max(0, ...answers.map((answer) => answer.revision));
  return { organizer: "org", event: "fest", position: 1, revision, answers: [...answers], ...changes };
}

export async function readPosition(db: Db, { id = 1, event = "fest" } = {}): Promise<Position> {
  const [stored] = await positions.find(db, [{ organizer: "org", event, id }]);
  if (stored === undefined) throw new Error(`there is no position ${id} of ${event}`);
  return Position.decode(encodePosition(stored));
}

/** Delivers facts to the consumer of answers, in one batch; a number is a position without any answers. */
export async function deliverAnswers(db: Db, ...facts: readonly (AnswersGiven | number)[]): Promise<void> {
  await deliverAnswersOf(db, Date.now() * 1000, ...facts);
}

/** The same with facts written at an instant, in microseconds since 1970. */
export async function deliverAnswersOf(
  db: Db,
  at: number,
  ...facts: readonly (AnswersGiven | number)[]
): Promise<void> {
  const service = await startForTest(boxoffice, { db });
  await service.deliver(
    topics.answersGiven,
    facts.map((fact) => (typeof fact === "number" ? entityKey("org", "fest", fact) : fact)),
    { at },
  );
}
