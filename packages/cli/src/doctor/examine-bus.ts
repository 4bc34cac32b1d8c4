import { type Admin, kafkaClient } from "@tessera/engines/kafka-client";
import type { TopicDifference } from "@tessera/engines/kafka-topics";
import { Fault } from "@tessera/kit/fault";
import { kafkaAccess } from "../open-engines.ts";
import { diffCatalogue } from "../topics/catalogue.ts";
import { describeCount } from "./describe-amount.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Finding, warning, well, wrong } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

/** For everything that the brokers are asked about groups. */
const patienceMs = 8000;

/** A group that works has accepted a fact long before. */
const lateMs = 60_000;

/** Examines what facts travel through: brokers, topics, and how far behind each group is. */
export async function examineBus(around: Surroundings): Promise<Finding[]> {
  const { config, environment } = around;
  if (config.bus === "memory") return [well("facts travel within the process (BUS=memory)")];
  let differences: readonly TopicDifference[];
  try {
    differences = await diffCatalogue(environment);
  } catch (error) {
    if (error instanceof Fault && error.code === "configuration_invalid") throw error;
    const mend = "start the brokers, or correct KAFKA_BROKERS, KAFKA_TLS and KAFKA_SASL_…";
    return [
      explainFailure(error, { what: `the brokers at ${config.kafkaBrokers ?? "no address"} cannot be used`, mend }),
    ];
  }
  const absent = new Set(differences.filter(({ what }) => what === "topic").map(({ topic }) => topic));
  return [...differences.map(describeDifference), ...(await examineGroups(around, absent))];
}

/** Describes one thing in which a topic is not as the catalogue declares it. */
export function describeDifference({ topic, what, wanted, found, remedy, advice }: TopicDifference): Finding {
  if (found === undefined && what === "topic") {
    const why = "facts wait in outboxes, and consumers read nothing";
    return wrong(`there is no topic ${topic}`, { why, mend: "tessera topics apply" });
  }
  return warning(`the topic ${topic} has ${what} ${found ?? "unset"}, not ${wanted}`, {
    mend: remedy === "decide" ? (advice ?? "decide what is right") : "tessera topics apply",
  });
}

interface Group {
  readonly service: string;
  readonly topic: string;
  readonly groupId: string;
  readonly kafkaTopic: string;
}

async function examineGroups(
  { definitions, log, clock, config }: Surroundings,
  absent: ReadonlySet<string>,
): Promise<Finding[]> {
  const prefix = config.kafkaTopicPrefix;
  const groups = definitions.flatMap(({ name: service, consumes }) =>
    consumes
      .filter((topic) => !absent.has(topic))
      .map((topic) => ({ service, topic, groupId: `${prefix}${service}.${topic}`, kafkaTopic: `${prefix}${topic}` })),
  );
  const client = kafkaClient(kafkaAccess(config, { clientId: "tessera-doctor", log }));
  const lateBefore = Math.floor(clock.now() / 1000) - lateMs;
  return client.administer(patienceMs, async (admin) => {
    const { brokers } = await admin.describeCluster();
    const leaderless = await findLeaderless(admin, groups);
    const readable = groups.filter(({ kafkaTopic }) => !leaderless.includes(kafkaTopic));
    const found = await Promise.all(readable.map((group) => examineGroup(admin, group, lateBefore)));
    const problems = [...leaderless.map(describeLeaderless), ...found.flat()];
    return [
      well(`the cluster of ${config.kafkaBrokers ?? ""} answers: ${describeCount(brokers.length, "broker")}`),
      ...(problems.length > 0 ? problems : [well(`no group of ${groups.length} is late`)]),
    ];
  });
}

async function findLeaderless(admin: Admin, groups: readonly Group[]): Promise<string[]> {
  const names = [...new Set(groups.map(({ kafkaTopic }) => kafkaTopic))];
  if (names.length === 0) return [];
  const { topics } = await admin.fetchTopicMetadata({ topics: names });
  return topics.filter(({ partitions }) => partitions.some(({ leader }) => leader < 0)).map(({ name }) => name);
}

function describeLeaderless(kafkaTopic: string): Finding {
  const why = "all brokers that hold it are away";
  return wrong(`a partition of ${kafkaTopic} has no leader`, { why, mend: "start them again" });
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
    // Partitions find their leaders, and groups their coordinators, a moment after they were made or lost.
    const what = `how far ${service} is with ${topic} could not be read`;
    return [explainFailure(error, { what, level: "warning", mend: "ask again in a moment" })];
  }
}

/** Describes a group that is behind. */
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
