import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import { topics } from "@tessera/protos/topics";
import type { EntityKey } from "../store/keys.ts";
import { lockPositions } from "../store/positions.ts";
import { countAnswered, drawAnswerRevision, nextAnswered, readAnswered } from "../store/republish-answers.ts";
import { toAnswersGiven } from "../wire/answers.ts";

/**
 * Publishes all answers that positions were given at gates again, each position under its lock: no older state can
 * follow the newer state of a concurrent scan.
 *
 * A state has a revision above the cutoff, but its answers keep theirs: a consumer that has applied them changes
 * nothing, and a new consumer applies all of them.
 */
export const rebuildAnswers: Rebuild<EntityKey> = {
  topic: topics.answersGiven,
  drawCutoff: drawAnswerRevision,
  count: countAnswered,
  async publishNext(tx, { after, limit }) {
    const keys = await nextAnswered(tx, { after, limit });
    const last = keys.at(-1);
    if (last === undefined) return undefined;
    await lockPositions(tx, keys);
    const facts = (await readAnswered(tx, keys)).map((position) => ({
      ...toAnswersGiven(position),
      revision: position.revision,
    }));
    await tx.publish(topics.answersGiven, facts);
    return { last, published: facts.length };
  },
};
