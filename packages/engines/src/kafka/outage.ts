import type { Log } from "@tessera/kit/telemetry/log";
import { kafkaErrorType } from "./client.ts";

export interface Outage {
  failed(reader: { group: string; topic: string }, error: unknown): void;
  works(reader: { group: string; topic: string }): void;
}

/** Logs one line when facts cannot be read, and one when they can again, for all readers and retries together. */
export function createOutage(log: Log): Outage {
  const troubled = new Set<string>();
  const withoutTopic = new Set<string>();
  return {
    failed({ group, topic }, error) {
      const reader = `${group} ${topic}`;
      if (kafkaErrorType(error) === "UNKNOWN_TOPIC_OR_PARTITION") {
        if (!withoutTopic.has(reader)) log.error("there is no such topic: run tessera topics apply", { group, topic });
        withoutTopic.add(reader);
        return;
      }
      if (troubled.size === 0) log.warn("Kafka cannot be read: facts are waiting", { group, topic, error });
      troubled.add(reader);
    },
    works({ group, topic }) {
      const reader = `${group} ${topic}`;
      withoutTopic.delete(reader);
      if (troubled.delete(reader) && troubled.size === 0) log.warn("Kafka can be read again");
    },
  };
}
