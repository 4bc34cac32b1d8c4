import { type Consumer, consume } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { removeEntities, removeOlder } from "../store/keys.ts";
import { putQuestions } from "../store/questions.ts";
import { toQuestionCopy } from "../wire-facts.ts";
import { newestStates } from "./newest-states.ts";

/** Keeps our copy of questions. */
export function questionChanged(db: Db): Consumer {
  return consume(
    topics.questionChanged,
    db,
    async (tx, facts) => {
      const { gone, changed } = newestStates(facts);
      await removeEntities(tx, "question", gone);
      await putQuestions(tx, changed.map(toQuestionCopy));
    },
    { sweep: (tx, { before }) => removeOlder(tx, "question", before) },
  );
}
