import type { Files } from "@tessera/kit/files/files";
import type { Erasing } from "@tessera/kit/personal-data/holder";
import { personalFields } from "@tessera/kit/personal-data/personal-fields";
import type { Tx } from "@tessera/kit/pg/database";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { topics } from "@tessera/protos/topics";
import { filledFields, replaceFields } from "@tessera/values";
import { findNextFiles, readNext } from "../store/following-orders.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import * as store from "../store/personal-data.ts";
import { find, findAnsweredAtGates, readRows, setAnswersRevisions } from "../store/positions.ts";
import { positionChanged } from "../wire/position-fact.ts";
import { storePositions } from "./order.ts";
import { personalDataOf } from "./order-personal-data.ts";

/** Other records of the organizer wait for a fraction of a second. */
const positionsAtATime = 500;

/**
 * Erases kinds of personal data in the orders of an event, with their positions, answers and files: the positions of some
 * orders first, in parts, and then their documents, which say that the positions are done. Meanwhile the event is closed to
 * records that bring any of it.
 *
 * A position that changes is published, so that all copies lose the data, too.
 */
export async function eraseOrders(job: Erasing, { files }: { readonly files: Files }): Promise<void> {
  const { organizer, event, kinds, signal, slice } = job;
  const scope = { organizer, event };
  const before = await slice((tx) => store.findBound(tx, job));
  for (let after = ""; ; ) {
    signal.throwIfAborted();
    const from = { code: after, before };
    // Before the rows: a file without a row is harder to find than a row without a file.
    const removed = new Set(kinds.has("question_answers") ? await slice((tx) => findNextFiles(tx, scope, from)) : []);
    await files.remove([...removed]);
    const found = await slice((tx) => readNext(tx, scope, from));
    if (found.length === 0) return;
    const known = new Set(found.map(({ code }) => code));
    const ids = found.flatMap(idsOf);
    const fileKeys: string[] = [];
    for (let at = 0; at < ids.length; at += positionsAtATime) {
      signal.throwIfAborted();
      fileKeys.push(...(await erasePositions(job, ids.slice(at, at + positionsAtATime))));
    }
    // What gates had sent before was perhaps stored meanwhile.
    await files.remove(fileKeys.filter((key) => !removed.has(key)));
    after = await slice(async (tx, count) => {
      await takeLocks(tx, locksOf([scope]));
      // Orders may have come and gone since: of each one that counts, the positions are done.
      const orders = (await readNext(tx, scope, from)).filter(({ code }) => known.has(code));
      const replaced = orders.flatMap(({ code, data }) => {
        const changed = replaceFields(data, personalDataOf(kinds));
        for (const kind of kinds) {
          const filled = filledFields(data, Object.keys(personalDataOf([kind])));
          if (filled.length > 0) count(kind, "order.data", filled.length);
        }
        return changed === data ? [] : [{ code, data: changed }];
      });
      await store.replaceDocuments(tx, scope, replaced);
      return orders.at(-1)?.code ?? from.code;
    });
  }
}

function idsOf({ data }: store.OrderDocument): number[] {
  return (data as { positions: { id: number }[] }).positions.map(({ id }) => id);
}

/** Erases kinds of personal data in positions, with their answers; returns the keys of the files of answers. */
function erasePositions({ organizer, event, kinds, slice }: Erasing, ids: readonly number[]): Promise<string[]> {
  const scope = { organizer, event };
  return slice(async (tx, count) => {
    await takeLocks(tx, locksOf([scope]));
    const cleaned = (await readRows(tx, scope, ids)).flatMap((row) => {
      const state = eraseState(row.state, kinds);
      return state === row.state ? [] : [{ ...row, state }];
    });
    const fileKeys = kinds.has("question_answers") ? await eraseAnswers(tx, { scope, ids, count }) : [];
    await storePositions(tx, scope, cleaned);
    return fileKeys;
  });
}

/** Deletes answers with their files, and publishes positions that gates had answered for. */
async function eraseAnswers(
  tx: Tx,
  {
    scope,
    ids,
    count,
  }: {
    readonly scope: { readonly organizer: string; readonly event: string };
    readonly ids: readonly number[];
    readonly count: (kind: string, holding: string, count: number) => void;
  },
): Promise<string[]> {
  const atGates = await findAnsweredAtGates(tx, scope, ids);
  const answered = (
    await find(
      tx,
      atGates.map(({ id }) => ({ ...scope, id })),
    )
  ).flatMap(({ id, gate }) =>
    gate === null || gate.answers.length === 0 ? [] : [{ ...scope, id, upTo: gate.upTo, isNews: true }],
  );
  const { fileKeys, files, gateAnswers } = await store.deleteAnswers(tx, scope, ids);
  if (files > 0) count("question_answers", "answer_file", files);
  if (gateAnswers > 0) count("question_answers", "gate_answer", gateAnswers);
  await tx.publish(positionChanged, await setAnswersRevisions(tx, answered));
  return fileKeys;
}

/** The fields of a position that kinds of personal data have, as its message names them. */
function fieldsOf(kinds: Iterable<string>): string[] {
  return personalFields(topics.positionChanged, kinds).map((path) => path.replace(/^position\./, ""));
}

/** Erases kinds of personal data in an encoded position; the same bytes where it has none. */
export function eraseState(state: Uint8Array, kinds: Iterable<string>): Uint8Array {
  const position = Position.decode(state);
  const fields = fieldsOf(kinds);
  if (filledFields(position, fields).length === 0) return state;
  const erased = Object.fromEntries(fields.map((path) => [path, blank[path]]));
  return Position.encode(replaceFields(position, erased)).finish();
}

/** When the order of an encoded position was placed. */
export function placedAtOf(state: Uint8Array): number | null {
  return Position.decode(state).order?.placedAt ?? null;
}

/** What an empty message has in its fields; those of messages in it are optional. */
const blank = Position.decode(new Uint8Array()) as unknown as Readonly<Record<string, unknown>>;
