import { consume } from "@tessera/kit/bus/consume";
import { newestPerKey } from "@tessera/kit/bus/fact";
import { topics } from "@tessera/protos/topics";
import { applyGivenAnswers } from "../records/gate-answers.ts";

/**
 * Applies answers that visitors gave at gates.
 *
 * They belong to the position from then on. A tombstone follows the removal of a position, which deleted its answers
 * already. A rebuild of the topic sweeps nothing: answers that checkin has lost would be lost here, too.
 */
export const answersGiven = consume(topics.answersGiven, async (tx, facts) => {
  const given = newestPerKey(facts).flatMap(({ value }) => value ?? []);
  if (given.length > 0) await applyGivenAnswers(tx, given);
});
