import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { bigint, bigints, boolean, copyTable, document } from "@tessera/kit/pg/table";
import { topics } from "@tessera/protos/topics";
import { entityKey } from "../store/keys.ts";

const questions = copyTable("question", {
  key: entityKey,
  columns: { items: bigints, position: bigint, askDuringCheckin: boolean, document },
});

export const questionChanged = keepCopy(topics.questionChanged, questions, (fact) => fact);
