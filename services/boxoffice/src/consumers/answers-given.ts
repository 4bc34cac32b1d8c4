import { consume, newestPerKey } from "@tessera/kit/bus/consume";
import { topics } from "@tessera/protos/topics";
import { applyGivenAnswers } from "../records/gate-answers.ts";

/**
 * Takes over what visitors answered at gates.
 *
 * What was taken belongs to the position from then on. A tombstone comes when the position has gone, which took its
 * answers along. And nothing is swept when the topic was rebuilt: what the other side has lost would be lost here, too.
 */
export const answersGiven = consume(topics.answersGiven, async (tx, facts) => {
  const given = newestPerKey(facts).flatMap(({ value }) => value ?? []);
  if (given.length > 0) await applyGivenAnswers(tx, given);
});
