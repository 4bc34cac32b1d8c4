import { randomUUID } from "node:crypto";
import { defineWork, enqueueWork, json, nothing, untilDone } from "@tessera/kit/jobs/work";
import type { Tx } from "@tessera/kit/pg/database";
import { Answer, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { type AnswersGiven, GivenAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import { topics } from "@tessera/protos/topics";
import { findChanged } from "../domain/gate-answers.ts";
import type { Scope } from "../domain/scope.ts";
import * as gateAnswers from "../store/gate-answer-rows.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import * as positions from "../store/positions.ts";
import type { StoredAnswerFile } from "../store/stored-answer-files.ts";
import { noteChanged } from "../store/stored-orders.ts";
import { encodePosition, positionChanged } from "../wire/position-fact.ts";
import { toReference } from "./answer-file.ts";

/** A position before the change, and its new rows of gate answers. */
interface Change {
  readonly position: positions.StoredPosition;
  readonly upTo: number;
  readonly rows: readonly gateAnswers.GateAnswerRow[];
}

/** Copies the file of a gate answer; retried until the file store is available. */
export const gateFileCopy = defineWork("copy-gate-file", {
  payload: json<gateAnswers.AwaitedAnswer>(),
  result: nothing,
  leaseMs: 60_000,
  tries: untilDone,
  keepMs: 0,
  atOnce: 8,
});

/** The tolerated clock skew between the databases of checkin and boxoffice, in microseconds. */
const clockMargin = 5_000_000;

/**
 * Applies gate answers of positions that are newer than the applied ones; `at` is when they were published, in
 * microseconds since 1970. Files are awaited until they are copied. Answers of deleted positions are dropped, even if
 * their ids are in use again.
 */
export async function applyGivenAnswers(
  tx: Tx,
  facts: readonly (AnswersGiven & { readonly at: number })[],
): Promise<void> {
  await takeLocks(tx, locksOf(facts));
  const given = new Map(facts.map((fact) => [topics.answersGiven.key(fact), fact]));
  const places = facts.map(({ organizer, event, position: id }) => ({ organizer, event, id }));
  const changes = (await positions.find(tx, places)).map((position): Change => {
    const upTo = position.gate?.upTo ?? 0;
    const { answers, at } = given.get(positionChanged.key(position)) ?? { answers: [], at: 0 };
    const isLater = position.madeAt !== null && position.madeAt > at + clockMargin;
    const fresh = isLater ? [] : answers.filter(({ revision }) => revision > upTo);
    const rows = new Map<number, gateAnswers.GateAnswerRow>();
    for (const answer of fresh) {
      const { question } = answer;
      rows.set(question, answerRow(rows.get(question) ?? findRow(position, question), answer));
    }
    return { position, upTo: Math.max(upTo, ...fresh.map(({ revision }) => revision)), rows: [...rows.values()] };
  });
  await store(tx, changes);
  const copies = changes.flatMap(({ rows }) =>
    rows.flatMap(({ organizer, event, position, question, awaitedRevision: revision }) =>
      revision === null
        ? []
        : [{ id: randomUUID(), owner: organizer, payload: { organizer, event, position, question, revision } }],
    ),
  );
  await enqueueWork(tx, gateFileCopy, copies);
}

const empty = { revision: null, answer: null, file: null, awaited: null, awaitedRevision: null };

function findRow(position: positions.StoredPosition, question: number): gateAnswers.GateAnswerRow {
  const { organizer, event, id, gate } = position;
  const stored = gate?.answers.find((answer) => answer.question === question);
  return { organizer, event, position: id, question, ...empty, ...stored };
}

function answerRow(before: gateAnswers.GateAnswerRow, given: GivenAnswer): gateAnswers.GateAnswerRow {
  const { question, revision, answer, file } = given;
  if (answer === undefined) return { ...before, ...empty, revision };
  if (file !== undefined) return { ...before, awaited: GivenAnswer.encode(given).finish(), awaitedRevision: revision };
  return { ...before, ...empty, revision, answer: encodeAnswer({ ...answer, question, file: undefined }) };
}

function encodeAnswer(answer: Answer): string {
  return Buffer.from(Answer.encode(answer).finish()).toString("base64");
}

/** The result of copying the file of an answer. */
export interface CopiedFile extends gateAnswers.AwaitedAnswer {
  /** Undefined: the file was deleted before. */
  readonly stored: StoredAnswerFile | undefined;
  readonly questionIdentifier: string;
}

/**
 * Applies an answer whose file was copied; if the file was deleted, the previous answer stays. False: the answer is not
 * awaited any more, and nothing names the copy.
 */
export async function applyCopiedFile(tx: Tx, copied: CopiedFile): Promise<boolean> {
  await takeLocks(tx, locksOf([copied]));
  const { organizer, event, position: id, question, revision } = copied;
  const [position] = await positions.find(tx, [{ organizer, event, id }]);
  if (position === undefined || position.gate === null) return false;
  const before = findRow(position, question);
  // A gate or a record answered the question during the copy, or the answer was erased.
  if (before.awaitedRevision !== revision) return false;
  await store(tx, [{ position, upTo: position.gate.upTo, rows: [copiedRow(before, copied)] }]);
  return true;
}

function copiedRow(before: gateAnswers.GateAnswerRow, copied: CopiedFile): gateAnswers.GateAnswerRow {
  const { question, revision, stored: file, questionIdentifier } = copied;
  if (file === undefined) return { ...before, awaited: null, awaitedRevision: null };
  const reference = { question, questionIdentifier, answer: toReference(file), options: [], optionIdentifiers: [] };
  return { ...before, ...empty, revision, answer: encodeAnswer({ ...reference, file: true }), file };
}

async function store(tx: Tx, changes: readonly Change[]): Promise<void> {
  await gateAnswers.upsert(
    tx,
    changes.flatMap(({ rows }) => rows),
  );
  const changed = changes
    .filter(({ rows }) => rows.length > 0)
    .map(({ position, upTo, rows }) => {
      const { organizer, event, id, state, gate } = position;
      const replaced = new Set(rows.map(({ question }) => question));
      const others = (gate?.answers ?? []).filter(({ question }) => !replaced.has(question));
      const now = encodePosition({ state, gate: { upTo, answers: [...others, ...rows] } });
      return { organizer, event, id, upTo, isNews: Buffer.compare(now, encodePosition(position)) !== 0 };
    });
  const news = await positions.setAnswersRevisions(tx, changed);
  await noteChanged(tx, news);
  await tx.publish(positionChanged, news);
}

/** Deletes gate answers to questions that records now answer differently. */
export async function deleteOverruledAnswers(
  tx: Tx,
  scope: Scope,
  rows: readonly Pick<positions.PositionRow, "id" | "state">[],
): Promise<void> {
  const states = new Map(rows.map(({ id, state }) => [id, state]));
  const answered = await positions.findAnsweredAtGates(tx, scope, [...states.keys()]);
  const overruled = answered.flatMap(({ id, state }) =>
    findChanged(answersOf(state), answersOf(states.get(id) ?? state)).map((question) => ({
      ...scope,
      position: id,
      question,
    })),
  );
  await gateAnswers.deleteAnswers(tx, overruled);
}

function answersOf(state: Uint8Array): readonly Answer[] {
  return Position.decode(state).answers;
}
