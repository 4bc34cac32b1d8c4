import type { Count, Erasing } from "@tessera/events/personal-data/holder";
import { personalFields } from "@tessera/events/personal-data/personal-fields";
import type { Files } from "@tessera/kit/files/files";
import { removeUnnamedBefore } from "@tessera/kit/files/remove-unnamed";
import type { Tx } from "@tessera/kit/pg/database";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { topics } from "@tessera/protos/topics";
import { type Fields, replaceFields, toFields } from "@tessera/values";
import { apart } from "../domain/apart.ts";
import type { Scope } from "../domain/scope.ts";
import * as store from "../store/erase-documents.ts";
import { most, positionsAtATime, readCodes, readFirst } from "../store/following-orders.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import { readStates, replaceStates } from "../store/positions.ts";
import { findNamed } from "../store/stored-answer-files.ts";
import { positionChanged } from "../wire/position-fact.ts";
import { isKeyOfFile, keyOfFile } from "./answer-file.ts";
import { personalDataOf } from "./order-personal-data.ts";

/**
 * Erases kinds of personal data in the orders of an event, with positions, answers and files. Each transaction writes
 * every row of some orders once. Of a large order the positions are erased first, in batches, and then the document,
 * which marks them as done. Until the end the event is closed to records with such data.
 *
 * Changed positions are published, so that all copies lose the data, too.
 */
export async function eraseOrders(job: Erasing, { files }: { readonly files: Files }): Promise<void> {
  const { organizer, event, kinds, signal, slice } = job;
  const { requestedAt, isRepeated } = await slice((tx) => store.findRequest(tx, job));
  const task: Task = {
    scope: { organizer, event },
    kinds,
    before: isRepeated ? requestedAt : undefined,
    kindOf: new Map(
      Array.from(kinds, (kind) => Object.keys(personalDataOf([kind])).map((path) => [path, kind] as const)).flat(),
    ),
    inDocuments: toFields(personalDataOf(kinds)),
    inStates: fieldsOfStates(kinds),
    removed: new Set(),
  };
  const inTurn = <T>(act: (tx: Tx, count: Count) => Promise<T>) =>
    slice(async (tx, count) => {
      await takeLocks(tx, locksOf([task.scope]));
      return act(tx, count);
    });
  for (let after: string | undefined = ""; after !== undefined; ) {
    const from: string = after;
    const codes = await slice((tx) => readCodes(tx, task.scope, { after: from, limit: atATime }));
    after = codes.length < atATime ? undefined : codes.at(-1);
    for (let wanted = apart(codes, neighbours), done: string | undefined; wanted.length > 0; ) {
      signal.throwIfAborted();
      const outcome = await inTurn((tx, count) => eraseFirst(tx, { task, wanted, done, count }));
      if ("fileKeys" in outcome) await removeFiles(task, files, outcome.fileKeys);
      else if ("wide" in outcome) {
        for (let part = 0; part < outcome.ids.length; ) {
          signal.throwIfAborted();
          const ids = outcome.ids.slice(part, part + positionsAtATime);
          const fileKeys = await inTurn((tx, count) => erasePositions(tx, { task, ids, count }));
          if (fileKeys.length > 0) await removeFiles(task, files, fileKeys);
          else part += positionsAtATime;
        }
        done = outcome.wide;
      } else {
        wanted = wanted.slice(outcome.erased);
        task.removed.clear();
      }
    }
  }
  if (kinds.has("question_answers")) await removeFormerFiles(job, { files, before: requestedAt });
}

/**
 * Removes the files of former answers and of rejected records, to which no row leads. Files stored since the request
 * belong to new orders, whose rows may follow.
 */
async function removeFormerFiles(
  { organizer, event, signal, slice }: Erasing,
  { files, before }: { readonly files: Files; readonly before: number },
): Promise<void> {
  await removeUnnamedBefore(files, {
    prefix: keyOfFile({ organizer, event }, ""),
    isOurs: isKeyOfFile,
    findNamed: (keys) => slice((tx) => findNamed(tx, keys)),
    before,
    signal,
  });
  signal.throwIfAborted();
}

/**
 * Spreads updates over pages: rows stored together share a page, and a HOT update needs room in it. No two of this many
 * neighbours are erased in one transaction, and each leaves its room to the next.
 */
const neighbours = 16;
const atATime = neighbours * most.erased;

/** What is erased, and the keys of answer files that were removed already. */
interface Task {
  readonly scope: Scope;
  readonly kinds: ReadonlySet<string>;
  /**
   * Only orders placed before this time, in microseconds since 1970. A first erasure is about all orders (undefined); a
   * repetition leaves later ones.
   */
  readonly before: number | undefined;
  /** The kind of each path that documents lose. */
  readonly kindOf: ReadonlyMap<string, string>;
  readonly inDocuments: Fields;
  readonly inStates: Fields;
  readonly removed: Set<string>;
}

type Outcome =
  /** The number of erased orders. */
  | { readonly erased: number }
  /** The files to be removed first. Nothing was erased. */
  | { readonly fileKeys: readonly string[] }
  /** An order with too many positions for one transaction. Nothing was erased. */
  | { readonly wide: string; readonly ids: readonly number[] };

interface Part {
  readonly task: Task;
  readonly wanted: readonly string[];
  /** The order whose positions are erased. */
  readonly done: string | undefined;
  readonly count: Count;
}

/** Erases the first of the wanted orders, under the lock of the event. */
async function eraseFirst(tx: Tx, { task, wanted, done, count }: Part): Promise<Outcome> {
  const { scope, before, kindOf, inDocuments } = task;
  const orders = await readFirst(tx, scope, { codes: wanted, before });
  const [first] = orders;
  // The orders were deleted in between, or are new.
  if (first === undefined) return { erased: most.erased };
  const isDone = first.code === done;
  const ids = isDone ? [] : orders.flatMap(idsOf);
  if (ids.length > positionsAtATime) return { wide: first.code, ids };
  const fileKeys = await erasePositions(tx, { task, ids, count });
  if (fileKeys.length > 0) return { fileKeys };
  const erased = isDone ? [first] : orders;
  const counts = new Map<string, number>();
  const countPath = (path: string) => counts.set(path, (counts.get(path) ?? 0) + 1);
  const replaced = erased.flatMap(({ code, data }) => {
    const changed = replaceFields(data, inDocuments, countPath);
    return changed === data ? [] : [{ code, data: changed }];
  });
  for (const [path, times] of counts) count(kindOf.get(path) ?? "", "order.data", times);
  await store.replaceDocuments(tx, scope, replaced);
  return { erased: wanted.indexOf(erased.at(-1)?.code ?? first.code) + 1 };
}

function idsOf({ data }: store.OrderDocument): number[] {
  return (data as { positions: { id: number }[] }).positions.map(({ id }) => id);
}

/** Files before rows: a file without a row is harder to find than a row without a file. */
async function removeFiles({ removed }: Task, files: Files, keys: readonly string[]): Promise<void> {
  await files.remove([...keys]);
  for (const key of keys) removed.add(key);
}

/**
 * Erases kinds of personal data in positions, with their answers, and publishes the positions. If answers have files
 * that were not removed yet, returns their keys and does nothing.
 */
async function erasePositions(
  tx: Tx,
  { task, ids, count }: { readonly task: Task; readonly ids: readonly number[]; readonly count: Count },
): Promise<readonly string[]> {
  const { scope, kinds, inStates, removed } = task;
  if (ids.length === 0) return [];
  const loseAnswers = kinds.has("question_answers");
  if (loseAnswers) {
    const fileKeys = (await store.findFilesOf(tx, scope, ids)).filter((key) => !removed.has(key));
    if (fileKeys.length > 0) return fileKeys;
  }
  const changed = (await readStates(tx, scope, ids)).flatMap(({ id, state, isAnswered }) => {
    const erased = eraseState(state, inStates);
    return erased === state && !(loseAnswers && isAnswered) ? [] : [{ id, state: erased }];
  });
  if (loseAnswers) {
    const deleted = await store.deleteAnswers(tx, scope, ids);
    count("question_answers", "answer_file", deleted.files);
    count("question_answers", "gate_answer", deleted.gateAnswers);
  }
  await tx.publish(positionChanged, await replaceStates(tx, scope, changed));
  return [];
}

/** The fields of kinds of personal data in the message of a position. */
export function fieldsOfStates(kinds: Iterable<string>): Fields {
  const paths = personalFields(topics.positionChanged, kinds).map((path) => path.replace(/^position\./, ""));
  return toFields(Object.fromEntries(paths.map((path) => [path, blank[path]])));
}

/** Clears fields of an encoded position; the same bytes if they are clear already. */
export function eraseState(state: Uint8Array, fields: Fields): Uint8Array {
  const position = Position.decode(state);
  const erased = replaceFields(position, fields);
  return erased === position ? state : Position.encode(erased).finish();
}

/** When the order of an encoded position was placed. */
export function placedAtOf(state: Uint8Array): number | null {
  return Position.decode(state).order?.placedAt ?? null;
}

/** An empty message; nested messages are optional. */
const blank = Position.decode(new Uint8Array()) as unknown as Readonly<Record<string, unknown>>;
