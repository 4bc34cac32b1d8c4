import type { Queryable } from "@tessera/kit/pg/database";
import { type OutboxFact, outboxRows } from "@tessera/kit/pg/outbox";

/** Publishes facts under ids of their own. */
export async function publishFacts(tx: Queryable, topic: string, facts: readonly OutboxFact[]): Promise<void> {
  if (facts.length > 0) await tx.run(outboxRows(topic, facts));
}
