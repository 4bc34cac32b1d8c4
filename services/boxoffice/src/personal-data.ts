import { countStates } from "@tessera/events/personal-data/count-states";
import { findErasedUntil, isOfErased } from "@tessera/events/personal-data/erased-until";
import { type CountAll, type Holding, holdPersonalData } from "@tessera/events/personal-data/holder";
import type { Files } from "@tessera/kit/files/files";
import { catalogue, topics } from "@tessera/protos/topics";
import { closeEvent } from "./handlers/close-event.ts";
import { eraseOrders, eraseState, fieldsOfStates, placedAtOf } from "./records/erase-orders.ts";
import { orderFiles } from "./records/export-orders.ts";
import { orderPersonalData } from "./records/order-personal-data.ts";
import { countOrdersWith } from "./store/count-personal-data.ts";
import { countRows, versionOf } from "./store/erase-documents.ts";

/** The personal data in the documents of orders, by kind. */
const inOrders = Object.keys(orderPersonalData).map(
  (kind): Holding => ({ kind, name: "order.data", leftOfAll: countOrders }),
);

function countOrders(...[db, place, kinds]: Parameters<CountAll>) {
  return countOrdersWith(
    db,
    place,
    Object.entries(orderPersonalData).flatMap(([kind, fields]) =>
      kinds.has(kind) ? Object.keys(fields).map((path) => ({ kind, path })) : [],
    ),
  );
}

/** The personal data in the states of positions, by the kinds that their topic declares. */
const inPositions = Object.keys(topics.positionChanged.personalData)
  .filter((kind) => kind !== "kept")
  .map((kind): Holding => ({ kind, name: "position.state", leftOfAll: countPositions }));

async function countPositions(...[db, place, kinds]: Parameters<CountAll>) {
  const erased = await findErasedUntil(db, place);
  const all = fieldsOfStates(kinds);
  const fieldsOf = Array.from(kinds, (kind) => [kind, fieldsOfStates([kind])] as const);
  return countStates(
    db,
    { table: "position", place },
    // Most states hold no personal data.
    (state) => {
      if (eraseState(state, all) === state) return [];
      const placedAt = placedAtOf(state);
      return fieldsOf
        .filter(([kind, fields]) => isOfErased(erased, kind, placedAt) && eraseState(state, fields) !== state)
        .map(([kind]) => kind);
    },
  );
}

export const personalData = holdPersonalData<{ readonly files: Files }>({
  requests: topics.shredRequested,
  topics: catalogue,
  holdings: [
    ...inOrders,
    ...inPositions,
    { kind: "question_answers", name: "answer_file", left: (db, place) => countRows(db, "answer_file", place) },
    { kind: "question_answers", name: "gate_answer", left: (db, place) => countRows(db, "gate_answer", place) },
  ],
  files: orderFiles,
  version: versionOf,
  close: closeEvent,
  erase: eraseOrders,
});
