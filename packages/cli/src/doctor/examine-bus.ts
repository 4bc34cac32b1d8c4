import { type Admin, kafkaClient } from "@tessera/kit/bus/kafka-client";
import type { TopicDifference } from "@tessera/kit/bus/kafka-topics";
import { Fault } from "@tessera/kit/fault";
import { kafkaAccess } from "../open-engines.ts";
import { diffCatalogue } from "../topics/catalogue.ts";
import { describeAge } from "./examine-facts.ts";
import { type Finding, skipped, well } from "./finding.ts";
import { sayCount } from "./say-count.ts";
import type { Surroundings } from "./surroundings.ts";
import { tellFailure } from "./tell-failure.ts";

/** For all that is asked of the brokers about groups. */
const patienceMs = 8000;

/** A backlog's age is told by these: the brokers know where in a topic a moment was, not when a message was written. */
const ages = [60, 600, 3600, 86_400] as const;

/** Examines what facts travel through: brokers, topics, and how far behind each group is. */
export async function examineBus(around: Surroundings): Promise<Finding[]> {
  const { config, environment } = around;
  if (around.cannotRead(/^(?:BUS$|KAFKA_)/)) return [skipped("the bus", "its settings cannot be read")];
  if (config.bus === "memory") return [well("facts travel within the process (BUS=memory)")];
  let differences: readonly TopicDifference[];
  try {
    differences = await diffCatalogue(environment);
  } catch (error) {
    if (error instanceof Fault && error.code === "configuration_invalid")
      return [skipped("the bus", "its settings are refused")];
    const mend = "start the brokers, or correct KAFKA_BROKERS, KAFKA_TLS and KAFKA_SASL_…";
    return [tellFailure(error, { what: `the brokers at ${config.kafkaBrokers ?? "no address"} cannot be used`, mend })];
  }
  const absent = new Set(differences.filter(({ what }) => what === "topic").map(({ topic }) => topic));
  return [...differences.map(tellDifference), ...(await examineGroups(around, config, absent))];
}

/** Tells one thing in which a topic is not as the catalogue declares it. */
export function tellDifference({ topic, what, wanted, found, remedy, advice }: TopicDifference): Finding {
  if (found === undefined && what === "topic") {
    const why = "facts wait in outboxes, and consumers read nothing";
    return { level: "wrong", what: `there is no topic ${topic}`, why, mend: "tessera topics apply" };
  }
  return {
    level: "warning",
    what: `the topic ${topic} has ${what} ${found ?? "unset"}, not ${wanted}`,
    mend: remedy === "decide" ? (advice ?? "decide what is right") : "tessera topics apply",
  };
}

interface Group {
  readonly service: string;
  readonly topic: string;
  readonly groupId: string;
  readonly kafkaTopic: string;
}

async function examineGroups(
  { definitions, log, clock }: Surroundings,
  config: Surroundings["config"],
  absent: ReadonlySet<string>,
): Promise<Finding[]> {
  const prefix = config.kafkaTopicPrefix;
  const groups = definitions.flatMap(({ name, consumes }) =>
    consumes
      .filter((topic) => !absent.has(topic))
      .map((topic) => ({
        service: name,
        topic,
        groupId: `${prefix}${name}.${topic}`,
        kafkaTopic: `${prefix}${topic}`,
      })),
  );
  const client = kafkaClient(kafkaAccess(config, { clientId: "tessera-doctor", log }));
  return client.administer(patienceMs, async (admin) => {
    const { brokers } = await admin.describeCluster();
    const leaderless = await findLeaderless(admin, groups);
    const found = await Promise.all(
      groups
        .filter(({ kafkaTopic }) => !leaderless.has(kafkaTopic))
        .map(async (group) => {
          try {
            return await examineGroup(admin, group, Math.floor(clock.now() / 1000));
          } catch (error) {
            // Partitions find their leaders, and groups their coordinators, a moment after they were made or lost.
            const what = `how far ${group.service} is with ${group.topic} could not be read`;
            return [tellFailure(error, { what, level: "warning", mend: "ask again in a moment" })];
          }
        }),
    );
    const problems = [...Array.from(leaderless, tellLeaderless), ...found.flat()];
    const head = well(`the cluster of ${config.kafkaBrokers ?? ""} answers: ${sayCount(brokers.length, "broker")}`);
    return problems.length > 0 ? [head, ...problems] : [head, well(`no group of ${groups.length} is late`)];
  });
}

async function findLeaderless(admin: Admin, groups: readonly Group[]): Promise<Set<string>> {
  const names = [...new Set(groups.map(({ kafkaTopic }) => kafkaTopic))];
  if (names.length === 0) return new Set();
  const { topics } = await admin.fetchTopicMetadata({ topics: names });
  return new Set(
    topics.filter(({ partitions }) => partitions.some(({ leader }) => leader < 0)).map(({ name }) => name),
  );
}

function tellLeaderless(kafkaTopic: string): Finding {
  return {
    level: "wrong",
    what: `a partition of ${kafkaTopic} has no leader`,
    why: "all brokers that hold it are away",
    mend: "start them again",
  };
}

async function examineGroup(admin: Admin, group: Group, nowMs: number): Promise<Finding[]> {
  const { kafkaTopic, groupId } = group;
  const [ends, [committed]] = await Promise.all([
    admin.fetchTopicOffsets(kafkaTopic),
    admin.fetchOffsets({ groupId, topics: [kafkaTopic] }),
  ]);
  const accepted = new Map(
    ends.map(({ partition, low }) => {
      const own = committed?.partitions.find((each) => each.partition === partition)?.offset;
      return [partition, Math.max(Number(low), Number(own ?? -1))] as const;
    }),
  );
  const waiting = ends.reduce(
    (sum, { partition, high }) => sum + Math.max(0, Number(high) - (accepted.get(partition) ?? 0)),
    0,
  );
  if (waiting === 0) return [];
  const seconds = await ageOf(admin, { kafkaTopic, accepted, nowMs });
  if (seconds === undefined) return [];
  const { groups } = await admin.describeGroups([groupId]);
  return [tellLag(group, { waiting, seconds, readers: groups[0]?.members.length ?? 0 })];
}

/** The greatest of the ages that some fact has that is not accepted. */
async function ageOf(
  admin: Admin,
  { kafkaTopic, accepted, nowMs }: { kafkaTopic: string; accepted: ReadonlyMap<number, number>; nowMs: number },
): Promise<number | undefined> {
  const late = await Promise.all(
    ages.map(async (seconds) => {
      const places = await admin.fetchTopicOffsetsByTimestamp(kafkaTopic, nowMs - seconds * 1000);
      return places.some(({ partition, offset }) => Number(offset) > (accepted.get(partition) ?? 0));
    }),
  );
  return ages.findLast((_age, index) => late[index]);
}

/** Tells of a group that is behind. */
export function tellLag(
  { service, topic, groupId }: Pick<Group, "service" | "topic" | "groupId">,
  { waiting, seconds, readers }: { waiting: number; seconds: number; readers: number },
): Finding {
  const nobody = readers === 0;
  return {
    level: "wrong",
    what: `${service} has ${sayCount(waiting, "fact")} of ${topic} still to accept, the oldest for more than ${describeAge(seconds)}`,
    why: nobody ? `no process reads as group ${groupId}` : `${sayCount(readers, "reader")} of its group do not get on`,
    mend: nobody
      ? `start it: tessera serve ${service}`
      : `its log says why; tessera topics parked --service ${service}`,
  };
}
