import { inject } from "vitest";

/** The broker that this run of the tests has started, as `host:port`. */
export function kafkaOfThisRun(): string {
  return inject("kafkaBrokers");
}
