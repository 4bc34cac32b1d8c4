import type { Consumer } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putCategories } from "../store/categories.ts";
import { keepEntities } from "./keep-copy.ts";

/** Keeps the order of categories, which the items of a status follow. */
export function categoryChanged(db: Db): Consumer {
  return keepEntities(topics.categoryChanged, db, {
    table: "category",
    put: putCategories,
  });
}
