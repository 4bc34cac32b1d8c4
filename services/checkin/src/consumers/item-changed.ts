import type { Consumer } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putItems } from "../store/items.ts";
import { keepEntities } from "./keep-copy.ts";
import { toItemCopy } from "./read-facts.ts";

/** Keeps our copy of items. */
export function itemChanged(db: Db): Consumer {
  return keepEntities(topics.itemChanged, db, {
    table: "item",
    put: (tx, changed) => putItems(tx, changed.map(toItemCopy)),
  });
}
