import { type Consumer, consume } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putItems } from "../store/items.ts";
import { removeEntities, removeOlder } from "../store/keys.ts";
import { toItemCopy } from "../wire-facts.ts";
import { newestStates } from "./newest-states.ts";

/** Keeps our copy of items. */
export function itemChanged(db: Db): Consumer {
  return consume(
    topics.itemChanged,
    db,
    async (tx, facts) => {
      const { gone, changed } = newestStates(facts);
      await removeEntities(tx, "item", gone);
      await putItems(tx, changed.map(toItemCopy));
    },
    { sweep: (tx, { before }) => removeOlder(tx, "item", before) },
  );
}
