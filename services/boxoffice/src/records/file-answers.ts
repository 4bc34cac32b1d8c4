import type { Tx } from "@tessera/kit/pg/database";
import type { SentFile } from "@tessera/records/kind";
import { type AddError, ofElement } from "@tessera/records/validate";
import type { Known } from "../domain/known.ts";
import type { Scope } from "../domain/scope.ts";
import * as answerFiles from "../store/answer-files.ts";
import {
  type AnswerFileReading,
  isDataUrl,
  isReference,
  keyOfFile,
  nameFile,
  readDataUrl,
  toReference,
} from "./answer-file.ts";
import type { AnswerData, OrderData } from "./order-schema.ts";

/** What an answer that is text may have. */
export const longestAnswer = 64 * 1024;

/** Says that an answer is too long for text. */
export const answerTooLong = `Ensure this field has no more than ${longestAnswer} characters.`;

/** An answer that is a file if its question asks for one, which only the database knows. */
interface FileAnswer {
  /** Where it stands in its order. */
  readonly at: { readonly position: number; readonly answer: number };
  /** As it was sent. */
  readonly text: string;
  /** Undefined: a reference to what may be stored. */
  readonly reading: AnswerFileReading | undefined;
}

/** An order in which references stand for files. */
export interface ReadOrder extends OrderData {
  readonly fileAnswers: readonly FileAnswer[];
}

interface OrderWithFiles {
  readonly data: ReadOrder;
  readonly document: string;
}

/** Reads the files out of an order, as if the questions they answer all asked for files. */
export function readFileAnswers(order: OrderData): ReadOrder {
  const fileAnswers: FileAnswer[] = [];
  for (const [position, { answers }] of order.positions.entries()) {
    for (const [answer, { answer: text }] of (answers ?? []).entries()) {
      if (isDataUrl(text)) fileAnswers.push({ at: { position, answer }, text, reading: readDataUrl(text) });
      else if (isReference(text)) fileAnswers.push({ at: { position, answer }, text, reading: undefined });
    }
  }
  const taken = fileAnswers.flatMap(({ at, reading }) => {
    if (reading?.ok !== true) return [];
    const { contentType, content, sha256 } = reading.file;
    const answer = toReference({ contentType, size: content.length, sha256 });
    return [[at, { answer, isFile: true }] as const];
  });
  return { ...changeAnswers(order, taken), fileAnswers };
}

/** The files that an order brings along. */
export function* filesOf({ fileAnswers }: ReadOrder, scope: Scope): Generator<SentFile, void> {
  for (const { reading } of fileAnswers) {
    if (reading?.ok === true) yield { ...reading.file, key: keyOfFile(scope, reading.file.id) };
  }
}

/** Finds files that cannot be read where the question asks for one, and text that is too long where it does not. */
export function validateFileAnswers(order: ReadOrder, known: Known, addError: AddError): void {
  const answered = new Set<string>();
  for (const { at, text, reading } of order.fileAnswers) {
    const { question } = answerAt(order, at);
    const object = (message: string) => addError(`positions.${at.position}.answers`, ofElement(at.answer, message));
    if (!asksForFile(question, known)) {
      if (text.length > longestAnswer) object(answerTooLong);
      continue;
    }
    if (reading?.ok === false) object(reading.problem);
    const place = `${at.position} ${question}`;
    if (answered.has(place)) object(`question ${question} is answered with a file already`);
    answered.add(place);
  }
}

/** What orders look like when it is known which of their answers are files. */
interface Resolved<V> {
  /** Orders that differ from how they were read. */
  readonly changed: ReadonlyMap<V, OrderWithFiles>;
  readonly files: readonly answerFiles.AnswerFileRow[];
  /** Files that are stored and that orders refer to. */
  readonly kept: readonly answerFiles.AnswerPlace[];
}

/** Decides which answers are files. What is text after all, and what refers to a stored file, was read as something else. */
export async function resolveFileAnswers<V extends OrderWithFiles>(
  tx: Tx,
  { scope, values, known }: { scope: Scope; values: readonly V[]; known: Known },
): Promise<Resolved<V>> {
  const changed = new Map<V, OrderWithFiles>();
  const files: answerFiles.AnswerFileRow[] = [];
  const kept: answerFiles.AnswerPlace[] = [];
  const stored = await readReferences(tx, scope, values);
  for (const value of values) {
    const changes: AnswerChange[] = [];
    for (const { at, text, reading } of value.data.fileAnswers) {
      const { question, file_name } = answerAt(value.data, at);
      const position = value.data.positions[at.position]?.id ?? 0;
      const asked = asksForFile(question, known);
      if (reading === undefined) {
        if (!asked || !stored.has(`${position} ${question} ${text}`)) continue;
        kept.push({ position, question });
        changes.push([at, { answer: text, isFile: true }]);
      } else if (reading.ok && asked) {
        const { id, contentType, content, sha256 } = reading.file;
        const name = nameFile(file_name, contentType);
        const fileKey = keyOfFile(scope, id);
        files.push({ position, question, fileKey, name, contentType, size: content.length, sha256 });
      } else {
        changes.push([at, { answer: text }]);
      }
    }
    if (changes.length > 0) changed.set(value, changeOrder(value, changes));
  }
  return { changed, files, kept };
}

/** The files that references may mean: position, question and reference of each. */
async function readReferences(tx: Tx, scope: Scope, values: readonly OrderWithFiles[]): Promise<ReadonlySet<string>> {
  const positions = values.flatMap(({ data }) =>
    data.fileAnswers.flatMap(({ at, reading }) =>
      reading === undefined ? (data.positions[at.position]?.id ?? []) : [],
    ),
  );
  if (positions.length === 0) return new Set();
  const rows = await answerFiles.readOfPositions(tx, scope, positions);
  return new Set(rows.map((row) => `${row.position} ${row.question} ${toReference(row)}`));
}

type AnswerChange = readonly [FileAnswer["at"], { readonly answer: string; readonly isFile?: true }];

function changeOrder({ data, document }: OrderWithFiles, changes: readonly AnswerChange[]): OrderWithFiles {
  // A document has the positions and answers of its order, in their order.
  const written = JSON.parse(document) as { positions: { answers: { answer: string }[] }[] };
  for (const [at, { answer }] of changes) {
    const field = written.positions[at.position]?.answers[at.answer];
    if (field !== undefined) field.answer = answer;
  }
  return { data: changeAnswers(data, changes), document: JSON.stringify(written) };
}

function changeAnswers<T extends OrderData>(order: T, changes: readonly AnswerChange[]): T {
  if (changes.length === 0) return order;
  const positions = order.positions.map((position) => ({ ...position }));
  for (const [at, { answer, isFile }] of changes) {
    const position = positions[at.position];
    if (position === undefined) continue;
    position.answers = (position.answers ?? []).map((before, index) => {
      if (index !== at.answer) return before;
      const { isFile: _wasFile, ...rest } = before;
      return { ...rest, answer, ...(isFile === undefined ? {} : { isFile }) };
    });
  }
  return { ...order, positions };
}

function answerAt(order: OrderData, { position, answer }: FileAnswer["at"]): AnswerData {
  const found = order.positions[position]?.answers?.[answer];
  if (found === undefined) throw new Error("an answer of the order is not there any more");
  return found;
}

function asksForFile(question: number, known: Known): boolean {
  return known.questions.get(question)?.type === "F";
}
