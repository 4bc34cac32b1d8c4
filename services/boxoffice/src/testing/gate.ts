import { randomUUID } from "node:crypto";
import { systemClock } from "@tessera/kit/clock";
import { createLog } from "@tessera/kit/log";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { AnswersGiven, GivenAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import type { SentFile } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { entityKey, topics } from "@tessera/protos/topics";
import { answersGiven } from "../consumers/answers-given.ts";

/** An answer to a question, as a gate tells of it; without a text it was taken back. */
export function given(question: number, revision: number, text?: string, file?: Partial<SentFile>): GivenAnswer {
  if (text === undefined) return { question, revision, answer: undefined };
  const answer = { question, answer: text, questionIdentifier: `Q${question}`, options: [], optionIdentifiers: [] };
  if (file === undefined) return { question, revision, answer };
  const sent = { upload: randomUUID(), name: "me.png", contentType: "image/png", size: 7, sha256: "", ...file };
  return { question, revision, answer: { ...answer, file: true }, file: sent };
}

/** All answers of a position. */
export function answersFact(answers: readonly GivenAnswer[], changes: Partial<AnswersGiven> = {}): AnswersGiven {
  const revision = Math.max(0, ...answers.map((answer) => answer.revision));
  return { organizer: "org", event: "fest", position: 1, revision, answers: [...answers], ...changes };
}

/** Hands facts to the consumer of answers, in one batch; a number is a position of which nothing is left. */
export async function deliverAnswers(db: Db, ...facts: readonly (AnswersGiven | number)[]): Promise<void> {
  const topic = topics.answersGiven;
  const messages = facts.map((fact) => ({
    topic: topic.name,
    partition: 0,
    key: typeof fact === "number" ? entityKey("org", "fest", fact) : topic.key(fact),
    value: typeof fact === "number" ? null : topic.encode(fact),
    headers: { "fact-id": randomUUID(), "fact-at": String(systemClock.now()) },
  }));
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const consumer = answersGiven.open({ db, group: "boxoffice", log, deps: undefined });
  await consumer.deliver(messages, new AbortController().signal);
  const parked = await db.many<{ cause: string }>(sql`select dead_letter.cause from dead_letter`);
  if (parked.length > 0) throw new Error(`facts were parked: ${parked.map(({ cause }) => cause).join("; ")}`);
}
