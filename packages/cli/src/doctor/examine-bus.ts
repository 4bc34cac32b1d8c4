import { type Admin, isRefusedLogin, kafkaClient } from "@tessera/engines/kafka/client";
import type { TopicDifference } from "@tessera/engines/kafka/topics";
import { Fault } from "@tessera/kit/fault";
import { describeCount, type Finding, ok, Skip, warning, wrong } from "@tessera/kit/service/finding";
import { explainFailure } from "../command/explain-failure.ts";
import type { Surroundings } from "../configuration/surroundings.ts";
import { kafkaAccess } from "../serve/open-engines.ts";
import { diffCatalogue } from "../topics/catalogue.ts";

/** The timeout of all questions about groups together. */
const patienceMs = 8000;

/** Far longer than a healthy group needs for a fact. */
const lateMs = 60_000;

/** Examines the transport of facts: brokers, topics, and consumer lag. */
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

/** Consequences of differing settings that affect delivery. */
const consequences: Readonly<Record<string, string>> = {
  "cleanup.policy": "facts are deleted before others have read them, or former states are kept that were erased",
  "max.message.bytes": "facts that are larger are refused, and parked",
};

/** Describes one difference of a topic from the catalogue. */
export function describeDifference({ topic, what, wanted, found, remedy, advice }: TopicDifference): Finding {
  if (found === undefined && what === "topic")
    return wrong`there is no topic ${topic}
      facts wait in outboxes, and consumers read nothing
      → tessera topics apply`;
  const judge = what === "cleanup.policy" ? wrong : warning;
  return judge`the topic ${topic} has ${what} ${found ?? "unset"}, not ${wanted}
    ${consequences[what]}
    → ${remedy === "decide" ? (advice ?? "decide what is right") : "tessera topics apply"}`;
}

async function examineGroups(around: Surroundings, absent: ReadonlySet<string>): Promise<Finding[]> {
  const { definitions, log, clock, config } = around;
  const prefix = config.kafkaTopicPrefix;
  const groups = definitions.flatMap(({ name: service, consumes }) =>
    consumes.filter((topic) => !absent.has(topic)).map((topic) => ({ service, topic, prefix })),
  );
  const topics = [...new Set(groups.map(({ topic }) => `${prefix}${topic}`))];
  const client = kafkaClient(kafkaAccess(config, { clientId: "tessera-doctor", log }));
  const lateBefore = Math.floor(clock.now() / 1000) - lateMs;
  return client.administer(patienceMs, async (admin) => {
    const { brokers } = await admin.describeCluster();
    const metadata = topics.length === 0 ? [] : (await admin.fetchTopicMetadata({ topics })).topics;
    const leaderless = metadata.filter(({ partitions }) => partitions.some(({ leader }) => leader < 0));
    const names = new Set(leaderless.map(({ name }) => name));
    const readable = groups.filter(({ topic }) => !names.has(`${prefix}${topic}`));
    const late = await Promise.all(readable.map((group) => examineGroup(admin, group, lateBefore)));
    const down = leaderless.map(
      ({ name }) =>
        wrong`a partition of ${name} has no leader
          all brokers that hold it are down
          → start them again`,
    );
    const problems = [...down, ...late.flat()];
    return [
      ok(`the cluster of ${config.kafkaBrokers ?? ""} answers: ${describeCount(brokers.length, "broker")}`),
      ...(problems.length > 0 ? problems : [ok(`no group of ${groups.length} is late`)]),
    ];
  });
}

async function examineGroup(
  admin: Admin,
  { service, topic, prefix }: { readonly service: string; readonly topic: string; readonly prefix: string },
  lateBefore: number,
): Promise<Finding[]> {
  const kafkaTopic = `${prefix}${topic}`;
  const groupId = `${prefix}${service}.${topic}`;
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
    /** The consumer lag of a partition: facts between the committed offset and this one. */
    const ahead = (partition: number, offset: string) => Math.max(0, Number(offset) - (accepted.get(partition) ?? 0));
    if (!late.some(({ partition, offset }) => ahead(partition, offset) > 0)) return [];
    const waiting = ends.reduce((sum, { partition, high }) => sum + ahead(partition, high), 0);
    const { groups } = await admin.describeGroups([groupId]);
    return [describeLag({ service, topic, groupId, waiting, readers: groups[0]?.members.length ?? 0 })];
  } catch (error) {
    // After its creation or loss, a partition has no leader and a group no coordinator for a moment.
    const what = `the progress of ${service} with ${topic} could not be read`;
    return [explainFailure(error, { what, level: "warning", mend: "ask again in a moment" })];
  }
}

/** Describes the consumer lag of a group. */
export function describeLag(
  group: Record<"service" | "topic" | "groupId", string> & Record<"waiting" | "readers", number>,
) {
  const { service, topic, groupId, waiting, readers } = group;
  const what = `${service} has ${describeCount(waiting, "fact")} of ${topic} still to accept, the oldest for more than a minute`;
  if (readers === 0)
    return wrong`${what}
      no process reads as group ${groupId}
      → start it: tessera serve ${service}`;
  return wrong`${what}
    ${describeCount(readers, "reader")} of its group make no progress
    → its log says why; tessera topics parked --service ${service}`;
}
