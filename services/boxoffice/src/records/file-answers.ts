import type { Tx } from "@tessera/kit/pg/database";
import type { ExamineFile, SentFile } from "@tessera/records/kind";
import type { Reading } from "@tessera/records/read";
import type { AddError } from "@tessera/records/validate";
import type { SentOrder } from "@tessera/resources/records/order";
import { holdFile, isDataUrl } from "@tessera/sent-files/data-url";
import type { Examined } from "@tessera/sent-files/examined";
import type { Known } from "../domain/known.ts";
import type { Scope } from "../domain/scope.ts";
import * as answerFiles from "../store/stored-answer-files.ts";
import { isReference, keyOfFile, nameFile, readDataUrl, toReference } from "./answer-file.ts";
import type { AnswerData, OrderData, PositionData } from "./order-data.ts";

export const longestAnswer = 64 * 1024;

/** The error of a text that is too long. */
export const answerTooLong = `Ensure this field has no more than ${longestAnswer} characters.`;

export const noneUnread: ReadonlySet<number> = new Set();

/** Reads data URLs as files and references as text, until the questions are known. */
export function readFileAnswers(order: SentOrder): OrderData {
  return mapAnswers({ ...order, unread: noneUnread }, (answer) => {
    const text = answer.answer;
    if (isReference(text)) return { ...answer, sent: { text } };
    if (!isDataUrl(text)) return answer;
    const sent = { text, reading: readDataUrl(text) };
    return sent.reading.ok
      ? { ...answer, answer: toReference(sent.reading.file), isFile: true, sent }
      : { ...answer, sent };
  });
}

/** Takes the examined and stored files of answers over from an earlier reading of the same order. */
export function keepFileAnswers({ data: order, document }: Reading<OrderData>, before: OrderData): Reading<OrderData> {
  const nameOfSent = (position: number, { question, sent }: AnswerData) => `${position} ${question} ${sent?.text}`;
  const kept = new Map<string, AnswerData>();
  for (const { id, answers } of before.positions) {
    for (const answer of answers ?? []) if (answer.sent !== undefined) kept.set(nameOfSent(id, answer), answer);
  }
  const data = mapAnswers(order, (answer, { id }) => {
    const same = answer.sent && kept.get(nameOfSent(id, answer));
    return same?.sent === undefined ? answer : { ...answer, answer: same.answer, sent: same.sent };
  });
  return { data, document: withAnswers(document, data) };
}

/** Examines the files of an order. Rejected ones become wrong answers to questions for files. */
export async function examineFileAnswers(
  { data: order, document }: Reading<OrderData>,
  examine: ExamineFile,
): Promise<Reading<OrderData>> {
  const found = new Map<string, Examined>();
  for (const { sent } of order.positions.flatMap(({ answers }) => answers ?? [])) {
    if (sent?.reading?.ok !== true) continue;
    const { contentType: type, content: bytes } = sent.reading.file;
    const reference = toReference(sent.reading.file);
    if (!found.has(reference)) found.set(reference, await examine({ type, bytes }));
  }
  const data = mapAnswers(order, (answer) => {
    const { sent } = answer;
    if (sent?.reading?.ok !== true) return answer;
    const examined = found.get(toReference(sent.reading.file));
    if (examined?.ok === false)
      return { ...answer, sent: { ...sent, reading: { ok: false, problem: examined.objection } } };
    if (examined?.rewritten === undefined) return answer;
    const file = { ...sent.reading.file, ...holdFile(sent.reading.file.contentType, examined.rewritten) };
    return { ...answer, answer: toReference(file), sent: { ...sent, reading: { ok: true, file } } };
  });
  return { data, document: withAnswers(document, data) };
}

/** Maps the answers of an order; unchanged ones are not copied. */
export function mapAnswers(
  order: OrderData,
  change: (answer: AnswerData, position: PositionData) => AnswerData,
): OrderData {
  const positions = order.positions.map((position) => {
    const answers = position.answers?.map((answer) => change(answer, position));
    return answers?.some((answer, at) => answer !== position.answers?.[at]) ? { ...position, answers } : position;
  });
  return positions.some((position, at) => position !== order.positions[at]) ? { ...order, positions } : order;
}

export function* filesOf({ positions }: OrderData, scope: Scope): Generator<SentFile, void> {
  for (const { sent } of positions.flatMap(({ answers }) => answers ?? [])) {
    if (sent?.reading?.ok === true) yield { ...sent.reading.file, key: keyOfFile(scope, sent.reading.file.id) };
  }
}

/** Finds unreadable files where the question asks for one, and too long texts where it does not. */
export function validateFileAnswers({ positions }: OrderData, known: Known, addError: AddError): void {
  for (const [index, { answers }] of positions.entries()) {
    const answered = new Set<number>();
    for (const [at, { question, sent }] of (answers ?? []).entries()) {
      if (sent === undefined) continue;
      const add = (message: string) => addError(`positions.${index}.answers.${at}`, message);
      if (!asksForFile(question, known)) {
        if (sent.text.length > longestAnswer) add(answerTooLong);
        continue;
      }
      if (sent.reading?.ok === false) add(sent.reading.problem);
      if (answered.has(question)) add(`Question ${question} is answered with a file already.`);
      answered.add(question);
    }
  }
}

/** Decides which answers are files. Returns changed copies of the orders whose reading changes. */
export async function resolveFileAnswers<V extends Reading<OrderData>>(
  tx: Tx,
  { scope, values, known }: { scope: Scope; values: readonly V[]; known: Known },
): Promise<{ readonly values: V[]; readonly files: readonly answerFiles.AnswerFileRow[] }> {
  const stored = await findReferred(tx, scope, values);
  const files: answerFiles.AnswerFileRow[] = [];
  const resolved = values.map((value) => {
    const data = mapAnswers(value.data, (answer, { id: position }) => {
      const { question, sent, file_name, isFile: wasFile } = answer;
      if (sent === undefined) return answer;
      const place = { position, question };
      const file = asksForFile(question, known)
        ? (toStored(sent, { scope, name: file_name }) ?? stored.get(nameOf(place, sent.text)))
        : undefined;
      if (file !== undefined) files.push({ ...file, ...place });
      const isFile = file === undefined ? undefined : true;
      return isFile === wasFile ? answer : { ...answer, answer: sent.text, isFile };
    });
    return data === value.data ? value : { ...value, data, document: withAnswers(value.document, data) };
  });
  return { values: resolved, files };
}

function toStored(
  { reading }: NonNullable<AnswerData["sent"]>,
  { scope, name }: { scope: Scope; name: string | null },
): answerFiles.StoredAnswerFile | undefined {
  if (reading?.ok !== true) return undefined;
  const { id, contentType, size, sha256 } = reading.file;
  return { fileKey: keyOfFile(scope, id), name: nameFile(name, contentType), contentType, size, sha256 };
}

/** Finds the files that references may name. */
async function findReferred(
  tx: Tx,
  scope: Scope,
  values: readonly Reading<OrderData>[],
): Promise<ReadonlyMap<string, answerFiles.AnswerFileRow>> {
  const refers = ({ sent }: AnswerData) => sent !== undefined && sent.reading === undefined;
  const positions = values
    .flatMap(({ data }) => data.positions.filter(({ answers }) => answers?.some(refers)))
    .map(({ id }) => id);
  if (positions.length === 0) return new Map();
  const rows = await answerFiles.findOfPositions(tx, scope, positions);
  return new Map(rows.map((row) => [nameOf(row, toReference(row)), row]));
}

function nameOf({ position, question }: answerFiles.AnswerPlace, reference: string): string {
  return `${position} ${question} ${reference}`;
}

/** The document has the positions and answers of its order, in their order. */
function withAnswers(document: string, { positions }: OrderData): string {
  const written = JSON.parse(document) as { positions: { answers?: { answer: string }[] }[] };
  for (const [index, { answers }] of positions.entries()) {
    for (const [at, { answer }] of (answers ?? []).entries()) {
      const field = written.positions[index]?.answers?.[at];
      if (field !== undefined) field.answer = answer;
    }
  }
  return JSON.stringify(written);
}

function asksForFile(question: number, known: Known): boolean {
  return known.questions.get(question)?.type === "F";
}
