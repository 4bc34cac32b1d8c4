import { type Consumer, consume } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putCategories } from "../store/categories.ts";
import { removeEntities, removeOlder } from "../store/keys.ts";
import { newestStates } from "./newest-states.ts";

/** Keeps the order of categories, which the items of a status follow. */
export function categoryChanged(db: Db): Consumer {
  return consume(
    topics.categoryChanged,
    db,
    async (tx, facts) => {
      const { gone, changed } = newestStates(facts);
      await removeEntities(tx, "category", gone);
      await putCategories(tx, changed);
    },
    { sweep: (tx, { before }) => removeOlder(tx, "category", before) },
  );
}
