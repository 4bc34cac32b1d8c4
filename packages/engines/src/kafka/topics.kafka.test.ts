import { randomUUID } from "node:crypto";
import { createKafkaTopic, quiet } from "@tessera/testkit/engines/kafka-bed";
import { kafkaOfThisRun } from "@tessera/testkit/engines/kafka-of-this-run";
import { describe, expect, it } from "vitest";
import { kafkaClient, resourceType } from "./client.ts";
import { applyTopics, type DeclaredTopic, diffTopics } from "./topics.ts";

const brokers = kafkaOfThisRun();
const catalogue: readonly DeclaredTopic[] = [
  { name: "states", partitions: 3, retention: { kind: "compacted" } },
  { name: "events", partitions: 2, retention: { kind: "days", days: 30 } },
];

const optionsOf = (topicPrefix: string) => ({ brokers: [brokers], clientId: "test", topicPrefix, log: quiet });

describe("applyTopics", () => {
  it("creates what is missing, and then finds nothing to do", async () => {
    const options = optionsOf(`${randomUUID()}.`);
    expect(await diffTopics(catalogue, options)).toEqual([
      { topic: "states", what: "topic", wanted: "3 partitions", found: undefined, remedy: "create" },
      { topic: "events", what: "topic", wanted: "2 partitions", found: undefined, remedy: "create" },
    ]);
    const { applied, left } = await applyTopics(catalogue, options);
    expect(applied.map(({ topic }) => topic)).toEqual(["states", "events"]);
    expect(left).toEqual([]);
    expect(await diffTopics(catalogue, options)).toEqual([]);
    expect(await applyTopics(catalogue, options)).toEqual({ applied: [], accepted: [], left: [] });
  });

  it("alters settings, and keeps those that somebody else has made", async () => {
    const options = optionsOf(`${randomUUID()}.`);
    const settings = { "retention.ms": "1000", "segment.bytes": "20000000" };
    await createKafkaTopic(brokers, `${options.topicPrefix}events`, { partitions: 2, settings });
    const differences = await diffTopics(catalogue.slice(1), options);
    expect(differences).toContainEqual({
      topic: "events",
      what: "retention.ms",
      wanted: String(30 * 86_400_000),
      found: "1000",
      remedy: "alter",
    });
    expect((await applyTopics(catalogue.slice(1), options)).applied).toEqual(differences);
    expect(await diffTopics(catalogue.slice(1), options)).toEqual([]);
    const { resources } = await kafkaClient(options).administer(10_000, (admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: resourceType, name: `${options.topicPrefix}events`, configNames: ["segment.bytes"] }],
      }),
    );
    expect(resources[0]?.configEntries[0]?.configValue).toBe("20000000");
  });

  it("leaves partitions and replicas to a person", async () => {
    const options = optionsOf(`${randomUUID()}.`);
    await createKafkaTopic(brokers, `${options.topicPrefix}states`, { partitions: 1 });
    const { left } = await applyTopics(catalogue.slice(0, 1), { ...options, replicationFactor: 2 });
    expect(left).toMatchObject([
      {
        what: "partitions",
        wanted: "3",
        found: "1",
        remedy: "decide",
        advice: expect.stringContaining("order would be lost"),
      },
      { what: "replication factor", wanted: "2", found: "1", remedy: "decide" },
    ]);
    expect(await diffTopics(catalogue.slice(0, 1), { ...options, replicationFactor: 2 })).toEqual(left);
  });

  it("wants no more copies in sync than a topic has, which would then take no fact", async () => {
    const options = optionsOf(`${randomUUID()}.`);
    await applyTopics(catalogue, options);
    const wanted = { ...options, replicationFactor: 3, minInSyncReplicas: 2 };
    const { applied, left } = await applyTopics(catalogue, wanted);
    expect(applied).toEqual([]);
    expect(left.map(({ what }) => what)).toEqual(["replication factor", "replication factor"]);
    await createKafkaTopic(brokers, `${options.topicPrefix}third`, {
      partitions: 2,
      settings: { "retention.ms": "1000" },
    });
    const third = { name: "third", partitions: 2, retention: { kind: "days", days: 30 } } as const;
    await applyTopics([third], wanted);
    expect(await diffTopics([third], { ...options, minInSyncReplicas: 1 })).toEqual([]);
  });

  it("accepts more partitions than declared, says so, and creates what is missing beside them", async () => {
    const options = optionsOf(`${randomUUID()}.`);
    await createKafkaTopic(brokers, `${options.topicPrefix}states`, { partitions: 5 });
    const { applied, accepted, left } = await applyTopics(catalogue, options);
    expect(accepted).toEqual([
      {
        ...{ topic: "states", what: "partitions", wanted: "3", found: "5", remedy: "accept" },
        advice: "more than declared do no harm if they were there before the first fact",
      },
    ]);
    expect(left).toEqual([]);
    expect(applied).toContainEqual(expect.objectContaining({ topic: "events", remedy: "create" }));
    expect(await diffTopics(catalogue, options)).toEqual(accepted);
  });

  it("fails in bounded time, and says where it asked, when no broker is there", async () => {
    const nowhere = { ...optionsOf(""), brokers: ["127.0.0.1:1"] };
    await expect(diffTopics(catalogue, nowhere)).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("127.0.0.1:1"),
    });
  });
});
