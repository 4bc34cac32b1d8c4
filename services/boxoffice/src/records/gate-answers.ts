import { randomUUID } from "node:crypto";
import { defineWork, enqueueWork, json, nothing, untilDone } from "@tessera/kit/jobs/work";
import type { Tx } from "@tessera/kit/pg/database";
import { Answer, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { type AnswersGiven, GivenAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import type { Known } from "../domain/known.ts";
import type { Scope } from "../domain/scope.ts";
import * as answerFiles from "../store/answer-files.ts";
import { removeAt } from "../store/answer-places.ts";
import * as gateAnswers from "../store/gate-answers.ts";
import { locksOf, take } from "../store/locks.ts";
import { type RecordedAnswer, readAnswers } from "../store/orders.ts";
import type { PositionRow } from "../store/positions.ts";
import { toReference } from "./answer-file.ts";
import type { OrderData } from "./order-schema.ts";
import { positionChanged } from "./position-fact.ts";

/** What is done to a position. */
interface Change {
  readonly position: gateAnswers.AnsweredPosition;
  readonly takenUpTo: number | null;
  /** What stands from now on, by question. */
  readonly answers: Map<number, gateAnswers.GateAnswer>;
  /** Questions that are not what they were. */
  readonly touched: Set<number>;
  /** Questions whose answers, whoever gave them, stand no more. */
  readonly replaced: Set<number>;
  readonly files: answerFiles.AnswerFileRow[];
}

/**
 * Takes over what positions answered at gates, as far as it was not taken before. Those that are files wait until their
 * bytes have been copied; what was answered before stands until then. Positions that are gone are nobody's concern.
 */
export async function takeOverAnswers(tx: Tx, given: readonly AnswersGiven[]): Promise<void> {
  await take(tx, locksOf(given));
  const byName = new Map(given.map((fact) => [gateAnswers.nameOf({ ...fact, id: fact.position }), fact]));
  // What was told again has a higher revision than any of its answers.
  const wanted = given.map(({ organizer, event, position, answers }) => ({
    organizer,
    event,
    id: position,
    revision: Math.max(0, ...answers.map(({ revision }) => revision)),
  }));
  const changes = (await gateAnswers.findBehind(tx, wanted)).map((position) => {
    const change = begin(position);
    const known = position.takenUpTo ?? 0;
    const fresh = (byName.get(gateAnswers.nameOf(position))?.answers ?? []).filter(({ revision }) => revision > known);
    for (const answer of fresh) takeOver(change, answer);
    return { ...change, takenUpTo: Math.max(known, ...fresh.map(({ revision }) => revision)) };
  });
  await store(tx, changes);
  await enqueueWork(tx, gateFileCopy, changes.flatMap(awaitedOf));
}

/** Copies the file of an answer that was given at a gate. It is tried until the store for files is there. */
export const gateFileCopy = defineWork("copy-gate-file", {
  payload: json<gateAnswers.AwaitedAnswer>(),
  result: nothing,
  leaseMs: 60_000,
  tries: untilDone,
  keepMs: 0,
  atOnce: 8,
});

function awaitedOf({ position: { organizer, event, id: position }, touched, answers }: Change) {
  return [...touched].flatMap((question) => {
    const revision = answers.get(question)?.awaited?.revision;
    if (revision === undefined) return [];
    return [{ id: randomUUID(), owner: organizer, payload: { organizer, event, position, question, revision } }];
  });
}

function begin(position: gateAnswers.AnsweredPosition): Change {
  return {
    position,
    takenUpTo: position.takenUpTo,
    answers: new Map(position.answers.map((answer) => [answer.question, answer])),
    touched: new Set(),
    replaced: new Set(),
    files: [],
  };
}

function takeOver({ answers, touched, replaced }: Change, given: GivenAnswer): void {
  const { question, revision, answer, file } = given;
  touched.add(question);
  if (answer !== undefined && file !== undefined) {
    const standing = answers.get(question)?.answer ?? null;
    answers.set(question, {
      question,
      answer: standing,
      awaited: { revision, state: GivenAnswer.encode(given).finish() },
    });
    return;
  }
  replaced.add(question);
  if (answer === undefined) answers.delete(question);
  else answers.set(question, { question, answer: encodeAnswer({ ...answer, question }), awaited: null });
}

/** Nothing is a file here but what was copied. */
function encodeAnswer({ file: _file, ...answer }: Answer): Uint8Array {
  return Answer.encode(answer).finish();
}

/** What became of the file of an answer. */
export interface CopiedFile extends gateAnswers.AwaitedAnswer {
  /** Undefined: it is not there any more. */
  readonly stored: answerFiles.StoredAnswerFile | undefined;
}

/** Puts an answer in its place whose file has been copied; where the file is deleted, the answer before it stays. */
export async function settleFile(tx: Tx, copied: CopiedFile): Promise<void> {
  await take(tx, locksOf([copied]));
  const { organizer, event, position: id } = copied;
  const changes = (await gateAnswers.findPositions(tx, [{ organizer, event, id }])).map(begin);
  for (const change of changes) settle(change, copied);
  await store(tx, changes);
}

function settle({ answers, touched, replaced, files }: Change, copied: CopiedFile): void {
  const { position, question, revision, stored } = copied;
  const before = answers.get(question);
  // It was answered again meanwhile.
  if (before?.awaited?.revision !== revision) return;
  touched.add(question);
  if (stored === undefined) {
    if (before.answer === null) answers.delete(question);
    else answers.set(question, { ...before, awaited: null });
    return;
  }
  const { answer } = GivenAnswer.decode(before.awaited.state);
  replaced.add(question);
  const told = {
    question,
    answer: toReference(stored),
    questionIdentifier: answer?.questionIdentifier ?? "",
    options: [],
    optionIdentifiers: [],
    file: true,
  };
  answers.set(question, { question, answer: Answer.encode(told).finish(), awaited: null });
  files.push({ position, question, ...stored });
}

async function store(tx: Tx, all: readonly Change[]): Promise<void> {
  const changes = all.filter(({ touched }) => touched.size > 0);
  const states = changes.map(({ position, takenUpTo, answers, replaced }) => {
    const { organizer, event, id, earlierCheckins } = position;
    const given = { takenUpTo, answers: [...answers.values()] };
    const before = position.answers.filter(({ answer }) => answer !== null).map(({ question }) => question);
    const state = mergeAnswers(position.state, { given, without: new Set([...before, ...replaced]) });
    const isNews = Buffer.compare(state, position.state) !== 0;
    return { organizer, event, id, earlierCheckins, state, takenUpTo, isNews };
  });
  await removeAt(
    tx,
    "gate_answer",
    placesOf(changes, ({ touched, answers }) => [...touched].filter((question) => !answers.has(question))),
  );
  await gateAnswers.put(
    tx,
    changes.flatMap(({ position: { organizer, event, id }, touched, answers }) =>
      [...answers.values()]
        .filter(({ question }) => touched.has(question))
        .map((answer) => ({ organizer, event, position: id, ...answer })),
    ),
  );
  await removeAt(
    tx,
    "answer_file",
    placesOf(changes, ({ replaced }) => replaced),
  );
  await answerFiles.put(
    tx,
    changes.flatMap(({ position: { organizer, event }, files }) =>
      files.map((file) => ({ organizer, event, ...file })),
    ),
  );
  const stored = new Map(states.map((row) => [gateAnswers.nameOf(row), row]));
  const facts = (await gateAnswers.putStates(tx, states)).flatMap((news) => {
    const row = stored.get(gateAnswers.nameOf(news));
    return row === undefined ? [] : [{ ...news, state: row.state, earlierCheckins: row.earlierCheckins }];
  });
  await tx.publish(positionChanged, facts);
}

function placesOf(
  changes: readonly Change[],
  questionsOf: (change: Change) => Iterable<number>,
): (Scope & answerFiles.AnswerPlace)[] {
  return changes.flatMap((change) => {
    const { organizer, event, id } = change.position;
    return [...questionsOf(change)].map((question) => ({ organizer, event, position: id, question }));
  });
}

/**
 * Puts answers given at a gate into the state of a position: behind the others, by question, so that the same answers
 * have the same bytes, whether they come to a record or a record to them.
 */
function mergeAnswers(
  state: Uint8Array,
  { given, without }: { given: gateAnswers.GateAnswers; without: ReadonlySet<number> },
): Uint8Array {
  const position = Position.decode(state);
  const others = position.answers.filter(({ question }) => !without.has(question));
  const taken = given.answers
    .flatMap(({ answer }) => (answer === null ? [] : [Answer.decode(answer)]))
    .sort((one, other) => one.question - other.question);
  const { answersRevision: _before, ...rest } = position;
  return Position.encode({ ...rest, answers: [...others, ...taken], ...answersRevision(given) }).finish();
}

/** Everything up to this revision is part of the answers: a file that is awaited is none yet. */
function answersRevision({ takenUpTo, answers }: gateAnswers.GateAnswers): { answersRevision?: number } {
  if (takenUpTo === null) return {};
  const awaited = answers.flatMap(({ awaited: file }) => (file === null ? [] : [file.revision - 1]));
  return { answersRevision: Math.min(takenUpTo, ...awaited) };
}

/** Positions as they are stored when a record comes again. */
interface Kept {
  readonly rows: readonly PositionRow[];
  /** Files of the records that become answers. */
  readonly files: readonly answerFiles.AnswerFileRow[];
  /** Files that stay, because answers given at a gate stay. */
  readonly staying: readonly answerFiles.AnswerPlace[];
}

/**
 * Keeps what was answered and taken back at gates for positions that records bring again, but where they answer the
 * question themselves, and otherwise than before: a record that says what it has always said knows nothing of the gate.
 */
export async function keepGateAnswers(
  tx: Tx,
  scope: Scope,
  options: {
    orders: readonly OrderData[];
    rows: readonly PositionRow[];
    files: readonly answerFiles.AnswerFileRow[];
    known: Known;
  },
): Promise<Kept> {
  const { orders, rows, files, known } = options;
  const stored = rows.flatMap(({ id }) => (known.positions.has(id) ? [id] : []));
  const answered = await gateAnswers.findAnswered(tx, scope, stored);
  if (answered.size === 0) return { rows, files, staying: [] };
  const news = await findNews(tx, scope, { orders, answered, known });
  const overruled: (Scope & answerFiles.AnswerPlace)[] = [];
  const staying: answerFiles.AnswerPlace[] = [];
  const settled = new Set<string>();
  const merged = rows.map((row) => {
    const given = answered.get(row.id);
    if (given === undefined) return row;
    const isOverruled = ({ question }: gateAnswers.GateAnswer) => news.has(`${row.id}/${question}`);
    for (const answer of given.answers) {
      const place = { position: row.id, question: answer.question };
      if (isOverruled(answer)) overruled.push({ ...scope, ...place });
      else if (answer.answer !== null && Answer.decode(answer.answer).file === true) staying.push(place);
    }
    const left = { ...given, answers: given.answers.filter((answer) => !isOverruled(answer)) };
    const standing = left.answers.filter(({ answer }) => answer !== null).map(({ question }) => question);
    // What a record has said before stood in the state, unless it was taken back at a gate since.
    const stood = new Set(questionsOf(given.state));
    const takenBack = questionsOf(row.state).filter(
      (question) => !stood.has(question) && !news.has(`${row.id}/${question}`),
    );
    const without = new Set([...standing, ...takenBack]);
    for (const question of without) settled.add(`${row.id}/${question}`);
    return { ...row, state: mergeAnswers(row.state, { given: left, without }) };
  });
  await removeAt(tx, "gate_answer", overruled);
  return { rows: merged, files: files.filter((file) => !settled.has(`${file.position}/${file.question}`)), staying };
}

/** Lists the questions that an encoded Position answers. */
function questionsOf(state: Uint8Array): number[] {
  return Position.decode(state).answers.map(({ question }) => question);
}

/** Names the answers, by position and question, that orders give and did not give before. */
async function findNews(
  tx: Tx,
  scope: Scope,
  options: { orders: readonly OrderData[]; answered: ReadonlyMap<number, unknown>; known: Known },
): Promise<ReadonlySet<string>> {
  const { orders, answered, known } = options;
  const codes = [...new Set([...answered.keys()].flatMap((id) => known.positions.get(id) ?? []))];
  const recorded = contentsByPlace(await readAnswers(tx, scope, codes));
  const sent = contentsByPlace(
    orders
      .flatMap(({ positions }) => positions.filter(({ id }) => answered.has(id)))
      .flatMap(({ id, answers }) => (answers ?? []).map((answer) => ({ ...answer, position: id }))),
  );
  return new Set([...sent].filter(([place, contents]) => recorded.get(place) !== contents).map(([place]) => place));
}

/** A record may answer a question more than once. */
function contentsByPlace(answers: readonly RecordedAnswer[]): ReadonlyMap<string, string> {
  const byPlace = Map.groupBy(answers, ({ position, question }) => `${position}/${question}`);
  return new Map([...byPlace].map(([place, all]) => [place, JSON.stringify(all.map(contentOf).sort())]));
}

function contentOf({ answer, options }: RecordedAnswer): string {
  return JSON.stringify([answer, options.toSorted((one, other) => one - other)]);
}
