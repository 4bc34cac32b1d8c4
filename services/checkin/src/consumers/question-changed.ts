import type { Consumer } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putQuestions } from "../store/questions.ts";
import { keepEntities } from "./keep-copy.ts";
import { toQuestionCopy } from "./read-facts.ts";

/** Keeps our copy of questions. */
export function questionChanged(db: Db): Consumer {
  return keepEntities(topics.questionChanged, db, {
    table: "question",
    put: (tx, changed) => putQuestions(tx, changed.map(toQuestionCopy)),
  });
}
