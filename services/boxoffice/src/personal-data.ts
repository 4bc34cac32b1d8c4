import type { Files } from "@tessera/kit/files/files";
import { type Holding, holdPersonalData } from "@tessera/kit/personal-data/holder";
import { catalogue, topics } from "@tessera/protos/topics";
import { eraseOrders, eraseState } from "./records/erase-orders.ts";
import { orderFiles } from "./records/export-orders.ts";
import { orderPersonalData } from "./records/order-personal-data.ts";
import { countOrdersWith } from "./store/count-personal-data.ts";
import { countRows, readStates, versionOf } from "./store/personal-data.ts";

const rowsAtATime = 1000;

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
      async left(db, place) {
        let count = 0;
        for (let after: number | undefined = 0; after !== undefined; ) {
          const rows: Awaited<ReturnType<typeof readStates>> = await readStates(db, place, {
            after,
            limit: rowsAtATime,
          });
          count += rows.filter(({ state }) => eraseState(state, [kind]) !== state).length;
          after = rows.length < rowsAtATime ? undefined : rows.at(-1)?.id;
        }
        return count;
      },
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
