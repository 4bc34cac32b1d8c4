import { type Admin, isRefusedLogin, kafkaClient } from "@tessera/engines/kafka-client";
import type { TopicDifference } from "@tessera/engines/kafka-topics";
import { Fault } from "@tessera/kit/fault";
import { kafkaAccess } from "../open-engines.ts";
import { diffCatalogue } from "../topics/catalogue.ts";
import { describeCount } from "./describe-amount.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Finding, ok, Skip, warning, wrong } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

/** The limit of all questions about groups together. */
const patienceMs = 8000;

/** A working group accepts a fact much earlier. */
const lateMs = 60_000;

/** Examines what transports facts: brokers, topics, and how far behind each consumer group is. */
export async function examineBus(around: Surroundings): Promise<Finding[]> {
  const { config, environment } = around;
  if (config.bus === "memory") {
    if (around.noted?.isRunning && around.noted.platform.processes.length > 1)
      throw new Skip("several processes run on this data folder: set BUS=kafka and KAFKA_BROKERS as they have them");
    return [ok("facts travel within the process (BUS=memory)")];
  }
  let differences: readonly TopicDifference[];
  try {
    differences = await diffCatalogue(environment);
  } catch (error) {
    if (error instanceof Fault && error.code === "configuration_invalid") throw error;
    const mend = isRefusedLogin(error)
      ? "correct KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD"
      : "start the brokers, or correct KAFKA_BROKERS, KAFKA_TLS and KAFKA_SASL_…";
    const what = `the brokers at ${config.kafkaBrokers ?? "no address"} cannot be used`;
    return [explainFailure(error, { what, mend, trust: "KAFKA_TLS_CA" })];
  }
  const absent = new Set(differences.filter(({ what }) => what === "topic").map(({ topic }) => topic));
  const wanting = differences.filter(({ remedy }) => remedy !== "accept");
  return [...wanting.map(describeDifference), ...(await examineGroups(around, absent))];
}

/** What follows from a setting that differs, where it changes what arrives. */
const consequences: Readonly<Record<string, string>> = {
  "cleanup.policy": "facts are deleted before others have read them, or former states are kept that were erased",
  "max.message.bytes": "facts that are larger are refused, and parked",
};

/** Describes one difference of a topic from the catalogue. */
export function describeDifference({ topic, what, wanted, found, remedy, advice }: TopicDifference): Finding {
  if (found === undefined && what === "topic") {
    const why = "facts wait in outboxes, and consumers read nothing";
    return wrong(`there is no topic ${topic}`, { why, mend: "tessera topics apply" });
  }
  const judge = what === "cleanup.policy" ? wrong : warning;
  return judge(`the topic ${topic} has ${what} ${found ?? "unset"}, not ${wanted}`, {
    why: consequences[what],
    mend: remedy === "decide" ? (advice ?? "decide what is right") : "tessera topics apply",
  });
}

type Group = ReturnType<typeof groupsOf>[number];

function groupsOf({ definitions, config: { kafkaTopicPrefix: prefix } }: Surroundings, absent: ReadonlySet<string>) {
  return definitions.flatMap(({ name: service, consumes }) =>
    consumes
      .filter((topic) => !absent.has(topic))
      .map((topic) => ({ service, topic, groupId: `${prefix}${service}.${topic}`, kafkaTopic: `${prefix}${topic}` })),
  );
}

async function examineGroups(around: Surroundings, absent: ReadonlySet<string>): Promise<Finding[]> {
  const { log, clock, config } = around;
  const groups = groupsOf(around, absent);
  const client = kafkaClient(kafkaAccess(config, { clientId: "tessera-doctor", log }));
  const lateBefore = Math.floor(clock.now() / 1000) - lateMs;
  return client.administer(patienceMs, async (admin) => {
    const { brokers } = await admin.describeCluster();
    const leaderless = await findLeaderless(admin, groups);
    const readable = groups.filter(({ kafkaTopic }) => !leaderless.includes(kafkaTopic));
    const late = await Promise.all(readable.map((group) => examineGroup(admin, group, lateBefore)));
    const why = "all brokers that hold it are down";
    const problems = [
      ...leaderless.map((topic) => wrong(`a partition of ${topic} has no leader`, { why, mend: "start them again" })),
      ...late.flat(),
    ];
    return [
      ok(`the cluster of ${config.kafkaBrokers ?? ""} answers: ${describeCount(brokers.length, "broker")}`),
      ...(problems.length > 0 ? problems : [ok(`no group of ${groups.length} is late`)]),
    ];
  });
}

async function findLeaderless(admin: Admin, groups: readonly Group[]): Promise<string[]> {
  const names = [...new Set(groups.map(({ kafkaTopic }) => kafkaTopic))];
  if (names.length === 0) return [];
  const { topics } = await admin.fetchTopicMetadata({ topics: names });
  return topics.filter(({ partitions }) => partitions.some(({ leader }) => leader < 0)).map(({ name }) => name);
}

async function examineGroup(admin: Admin, group: Group, lateBefore: number): Promise<Finding[]> {
  const { service, topic, kafkaTopic, groupId } = group;
  try {
    const [ends, [committed], late] = await Promise.all([
      admin.fetchTopicOffsets(kafkaTopic),
      admin.fetchOffsets({ groupId, topics: [kafkaTopic] }),
      admin.fetchTopicOffsetsByTimestamp(kafkaTopic, lateBefore),
    ]);
    const own = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
    const accepted = new Map(
      ends.map(({ partition, low }) => [partition, Math.max(Number(low), own.get(partition) ?? -1)]),
    );
    const isAfterAccepted = ({ partition, offset }: { partition: number; offset: string }) =>
      Number(offset) > (accepted.get(partition) ?? 0);
    if (!late.some(isAfterAccepted)) return [];
    const waiting = ends.map(({ partition, high }) => Math.max(0, Number(high) - (accepted.get(partition) ?? 0)));
    const { groups } = await admin.describeGroups([groupId]);
    const readers = groups[0]?.members.length ?? 0;
    return [describeLag(group, { waiting: waiting.reduce((sum, count) => sum + count, 0), readers })];
  } catch (error) {
    // A partition has no leader, and a group no coordinator, for a moment after either was created or lost.
    const what = `the progress of ${service} with ${topic} could not be read`;
    return [explainFailure(error, { what, level: "warning", mend: "ask again in a moment" })];
  }
}

/** Describes a group that is late. */
export function describeLag(
  { service, topic, groupId }: Pick<Group, "service" | "topic" | "groupId">,
  { waiting, readers }: { waiting: number; readers: number },
): Finding {
  const what = `${service} has ${describeCount(waiting, "fact")} of ${topic} still to accept, the oldest for more than a minute`;
  if (readers === 0)
    return wrong(what, { why: `no process reads as group ${groupId}`, mend: `start it: tessera serve ${service}` });
  return wrong(what, {
    why: `${describeCount(readers, "reader")} of its group make no progress`,
    mend: `its log says why; tessera topics parked --service ${service}`,
  });
}
