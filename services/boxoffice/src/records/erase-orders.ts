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
import { findNamed } from "../store/answer-files.ts";
import * as store from "../store/erase-documents.ts";
import { most, positionsAtATime, readCodes, readFirst } from "../store/following-orders.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import { readStates, replaceStates } from "../store/positions.ts";
import { positionChanged } from "../wire/position-fact.ts";
import { isKeyOfFile, keyOfFile } from "./answer-file.ts";
import { personalDataOf } from "./order-personal-data.ts";

/**
 * Erases kinds of personal data in the orders of an event, with their positions, answers and files. Each transaction writes
 * every row of some orders once. An order with many positions is the exception: they are erased in parts first, and then its
 * document, which says that they are done. Meanwhile the event is closed to records that bring any of it.
 *
 * A position that changes is published, so that all copies lose the data, too.
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
 * Removes the files of former answers and of records that were not taken: no row leads to them any more. Those that were stored
 * since the request are of new orders, whose rows may follow.
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
 * What was stored together lies together. A row that changes stays in its page, and in all indexes, where there is room: so no two
 * neighbours of so many are erased in one transaction, and the room that one leaves is that of the next.
 */
const neighbours = 16;
const atATime = neighbours * most.erased;

/** What is erased, and the keys of the files of answers that were removed already. */
interface Task {
  readonly scope: Scope;
  readonly kinds: ReadonlySet<string>;
  /**
   * Only orders that were placed before this time, in microseconds since 1970. The first time an erasure is about all of them
   * (undefined); a repetition leaves those that came after it.
   */
  readonly before: number | undefined;
  /** The kind of each path that documents lose. */
  readonly kindOf: ReadonlyMap<string, string>;
  readonly inDocuments: Fields;
  readonly inStates: Fields;
  readonly removed: Set<string>;
}

type Outcome =
  /** So many of the orders are erased. */
  | { readonly erased: number }
  /** These files are to be removed first. Nothing was erased. */
  | { readonly fileKeys: readonly string[] }
  /** This order has too many positions for one transaction. Nothing was erased. */
  | { readonly wide: string; readonly ids: readonly number[] };

interface Part {
  readonly task: Task;
  readonly wanted: readonly string[];
  /** The positions of this order are erased. */
  readonly done: string | undefined;
  readonly count: Count;
}

/** Erases the first of the wanted orders, under the lock of the event. */
async function eraseFirst(tx: Tx, { task, wanted, done, count }: Part): Promise<Outcome> {
  const { scope, before, kindOf, inDocuments } = task;
  const orders = await readFirst(tx, scope, { codes: wanted, before });
  const [first] = orders;
  // They were deleted meanwhile, or are new.
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

/** A file without a row is harder to find than a row without a file: rows go after their files. */
async function removeFiles({ removed }: Task, files: Files, keys: readonly string[]): Promise<void> {
  await files.remove([...keys]);
  for (const key of keys) removed.add(key);
}

/**
 * Erases kinds of personal data in positions, with their answers, and publishes them. Where answers have files that were not
 * removed yet, it returns their keys and does nothing.
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
  if (changed.length === 0) return [];
  const states = new Map(changed.map(({ id, state }) => [id, state]));
  const facts = (await replaceStates(tx, scope, changed)).flatMap((change) => {
    const state = states.get(change.id);
    return state === undefined ? [] : [{ ...scope, ...change, state }];
  });
  await tx.publish(positionChanged, facts);
  return [];
}

/** What kinds of personal data have in a position, by the names of its message. */
export function fieldsOfStates(kinds: Iterable<string>): Fields {
  const paths = personalFields(topics.positionChanged, kinds).map((path) => path.replace(/^position\./, ""));
  return toFields(Object.fromEntries(paths.map((path) => [path, blank[path]])));
}

/** Empties fields of an encoded position; the same bytes where it has none of them. */
export function eraseState(state: Uint8Array, fields: Fields): Uint8Array {
  const position = Position.decode(state);
  const erased = replaceFields(position, fields);
  return erased === position ? state : Position.encode(erased).finish();
}

/** When the order of an encoded position was placed. */
export function placedAtOf(state: Uint8Array): number | null {
  return Position.decode(state).order?.placedAt ?? null;
}

/** What an empty message has in its fields; those of messages in it are optional. */
const blank = Position.decode(new Uint8Array()) as unknown as Readonly<Record<string, unknown>>;
