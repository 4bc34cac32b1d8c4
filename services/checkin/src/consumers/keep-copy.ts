import { type Consumer, consume } from "@tessera/kit/bus/consume";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type { Topic } from "@tessera/protos/topic";
import { type CopyTable, type EntityKey, removeEntities, removeOlder, type SweptTable } from "../store/keys.ts";
import { newestStates } from "./newest-states.ts";

/** Consumes the facts of a topic into a table of copies: what is gone is removed, the newest states are put there. */
export function keepCopy<F>(
  topic: Topic<F>,
  db: Db,
  {
    table,
    remove,
    put,
  }: {
    readonly table: SweptTable;
    readonly remove: (tx: Tx, gone: readonly EntityKey[]) => Promise<void>;
    readonly put: (tx: Tx, changed: readonly F[]) => Promise<void>;
  },
): Consumer {
  return consume(
    topic,
    db,
    async (tx, facts) => {
      const { gone, changed } = newestStates(facts);
      await remove(tx, gone);
      await put(tx, changed);
    },
    { sweep: (tx, { before }) => removeOlder(tx, table, before) },
  );
}

/** Consumes the facts of a topic into a table whose rows are told apart by event and id. */
export function keepEntities<F>(
  topic: Topic<F>,
  db: Db,
  { table, put }: { readonly table: CopyTable; readonly put: (tx: Tx, changed: readonly F[]) => Promise<void> },
): Consumer {
  return keepCopy(topic, db, { table, remove: (tx, gone) => removeEntities(tx, table, gone), put });
}
