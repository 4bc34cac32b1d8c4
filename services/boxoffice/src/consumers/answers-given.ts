import { findErasedUntil } from "@tessera/events/personal-data/erased-until";
import { consume } from "@tessera/kit/bus/consume";
import { newestPerKey } from "@tessera/kit/bus/fact";
import type { Tx } from "@tessera/kit/pg/database";
import type { AnswersGiven } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import { entityKey, topics } from "@tessera/protos/topics";
import { applyGivenAnswers } from "../records/change-gate-answers.ts";

/**
 * Applies answers that visitors gave at gates.
 *
 * From then on the position owns them. A tombstone follows the deletion of a position, whose answers are deleted
 * already. A rebuild of the topic sweeps nothing: answers that checkin has lost would be lost here, too.
 */
export const answersGiven = consume(topics.answersGiven, async (tx, facts) => {
  const given = newestPerKey(facts).flatMap(({ value, at }) => (value === null ? [] : [{ ...value, at }]));
  const welcome = await withoutErased(tx, given);
  if (welcome.length > 0) await applyGivenAnswers(tx, welcome);
});

/** Drops answers to events whose answers were erased: a scanner may send them late. */
async function withoutErased<G extends AnswersGiven>(tx: Tx, given: readonly G[]): Promise<G[]> {
  const byEvent = Map.groupBy(given, ({ organizer, event }) => entityKey(organizer, event, ""));
  const kept: G[] = [];
  for (const facts of byEvent.values()) {
    const [first] = facts;
    if (first !== undefined && !(await findErasedUntil(tx, first)).has("question_answers")) kept.push(...facts);
  }
  return kept;
}
