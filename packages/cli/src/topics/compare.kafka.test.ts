import { randomUUID } from "node:crypto";
import { topics } from "@tessera/protos/topics";
import { createKafkaTopic } from "@tessera/testkit/engines/kafka-bed";
import { kafkaOfThisRun } from "@tessera/testkit/engines/kafka-of-this-run";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { applyDifferences, printDifferences } from "./compare.ts";

const brokers = kafkaOfThisRun();
const { name, partitions } = topics.credentialChanged;
let prefix: string;
beforeEach(() => {
  prefix = `test-${randomUUID()}.`;
  vi.stubEnv("KAFKA_BROKERS", brokers);
  vi.stubEnv("KAFKA_TOPIC_PREFIX", prefix);
});
afterEach(() => {
  process.exitCode = undefined;
});

async function outcome(command: (args: string[]) => Promise<void>): Promise<{ status: unknown; said: string }> {
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  process.exitCode = undefined;
  await command([]);
  const said = written.mock.calls.map(([text]) => String(text)).join("");
  written.mockRestore();
  return { status: process.exitCode, said };
}

it("topics apply succeeds where an operator has made more partitions, and says that they stay", async () => {
  await createKafkaTopic(brokers, `${prefix}${name}`, { partitions: partitions + 3 });
  const applied = await outcome(applyDifferences);
  expect(applied.status).toBeUndefined();
  const line = new RegExp(
    `${name} +partitions +${partitions + 3}, wanted ${partitions}; more than declared do no harm`,
  );
  expect(applied.said).toMatch(/^Done:\n/);
  expect(applied.said.split("Left as it is:\n")[1]).toMatch(line);
  // A broker has altered settings a moment later.
  const compare = () => outcome(printDifferences);
  await expect.poll(compare).toEqual({ status: undefined, said: expect.stringMatching(line) });
});

it("topics apply ends with 1 where fewer partitions need a decision", async () => {
  await createKafkaTopic(brokers, `${prefix}${topics.positionChanged.name}`, { partitions: 2 });
  const applied = await outcome(applyDifferences);
  expect(applied.status).toBe(1);
  expect(applied.said.split("Left to you:\n")[1]).toMatch(
    /partitions +2, wanted \d+; with more partitions the next fact/,
  );
  expect((await outcome(printDifferences)).status).toBe(1);
});
