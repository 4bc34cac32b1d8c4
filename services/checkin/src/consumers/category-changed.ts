import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { bigint, copyTable } from "@tessera/kit/pg/table";
import { topics } from "@tessera/protos/topics";
import { entityKey } from "../store/keys.ts";

const categories = copyTable("category", { key: entityKey, columns: { position: bigint } });

/** Keeps the order of categories; the status of a list sorts its items by category. */
export const categoryChanged = keepCopy(topics.categoryChanged, categories, (fact) => fact);
