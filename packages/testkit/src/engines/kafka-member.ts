import { kafkaBus } from "@tessera/engines/kafka/kafka";
import { numberOf, quiet } from "./kafka-bed.ts";

/** A member of a group in a process that a test kills. It prints the number of each message that it accepts. */
const [brokers = "", topicPrefix = "", group = "", topic = ""] = process.argv.slice(2);
const bus = kafkaBus({
  brokers: brokers.split(","),
  clientId: "member",
  topicPrefix,
  sessionTimeoutMs: 2000,
  heartbeatIntervalMs: 300,
  log: quiet,
});
await bus.subscribe({
  group,
  topic,
  async deliver(messages) {
    for (const message of messages) process.stdout.write(`${numberOf(message)}\n`);
  },
});
