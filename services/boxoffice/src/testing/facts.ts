import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";

export interface PublishedFact {
  readonly topic: string;
  readonly key: string;
  /** Null: a tombstone. */
  readonly value: Record<string, unknown> | null;
}

/** Takes the facts since the last call out of the outbox, in order. */
export async function takeFacts(db: Db): Promise<PublishedFact[]> {
  const rows = await db.many<{ id: number; topic: string; key: string; payload: Buffer | null }>(sql`
    delete from outbox
    returning outbox.id, outbox.topic, outbox.key, outbox.payload`);
  const codecs = new Map<string, { decode(bytes: Uint8Array): unknown }>(
    Object.values(topics).map((topic) => [topic.name, topic]),
  );
  return rows
    .toSorted((one, other) => one.id - other.id)
    .map(({ topic, key, payload }) => {
      const value = payload === null ? null : codecs.get(topic)?.decode(payload);
      return { topic: topic.replace(/^boxoffice\.|\.v1$/g, ""), key, value: value as PublishedFact["value"] };
    });
}
