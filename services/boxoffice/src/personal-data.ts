import type { Files } from "@tessera/kit/files/files";
import { countPages } from "@tessera/kit/personal-data/count-pages";
import { type Holding, holdPersonalData } from "@tessera/kit/personal-data/holder";
import { catalogue, topics } from "@tessera/protos/topics";
import { eraseOrders, eraseState } from "./records/erase-orders.ts";
import { orderFiles } from "./records/export-orders.ts";
import { orderPersonalData } from "./records/order-personal-data.ts";
import { countOrdersWith } from "./store/count-personal-data.ts";
import { countRows, readStates, versionOf } from "./store/personal-data.ts";

/** What the documents of orders hold, of each kind. */
const inOrders = Object.entries(orderPersonalData).map(
  ([kind, fields]): Holding => ({
    kind,
    name: "order.data",
    left: (db, place) => countOrdersWith(db, place, Object.keys(fields)),
  }),
);

/** What the states of positions hold, of each kind that their topic declares. */
const inPositions = Object.keys(topics.positionChanged.personalData)
  .filter((kind) => kind !== "kept")
  .map(
    (kind): Holding => ({
      kind,
      name: "position.state",
      left: (db, place) =>
        countPages(
          (page) => readStates(db, place, page),
          ({ state }) => eraseState(state, [kind]) !== state,
        ),
    }),
  );

/** The personal data that boxoffice holds, and how it is exported and erased. */
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
  erase: eraseOrders,
});
