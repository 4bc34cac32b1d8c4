import { type KafkaEngine, startKafka } from "./engines/kafka-broker.ts";

declare module "vitest" {
  interface ProvidedContext {
    kafkaBrokers: string;
  }
}

interface Project {
  provide(name: "kafkaBrokers", value: string): void;
}

let kafka: KafkaEngine | undefined;

/** Starts one real broker for all test files of a run. TEST_KAFKA_BROKERS names other brokers to use. */
export async function setup(project: Project): Promise<void> {
  const given = process.env["TEST_KAFKA_BROKERS"];
  if (given !== undefined && given !== "") {
    project.provide("kafkaBrokers", given);
    return;
  }
  kafka = await startKafka();
  project.provide("kafkaBrokers", kafka.brokers);
}

export async function teardown(): Promise<void> {
  await kafka?.stop();
}
