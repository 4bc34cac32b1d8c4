import type { AppliedTopics, TopicDifference, TopicOptions } from "@tessera/engines/kafka/topics";
import { type Environment, readConfig } from "@tessera/kit/config/config";
import { createLog } from "@tessera/kit/telemetry/log";
import { catalogue } from "@tessera/protos/topics";
import { engineSettings, topicSettings } from "../configuration/engine-settings.ts";
import { kafkaAccess } from "../serve/open-engines.ts";

/** Compares the brokers' topics with the catalogue. */
export async function diffCatalogue(environment: Environment): Promise<readonly TopicDifference[]> {
  const { diffTopics } = await import("@tessera/engines/kafka/topics");
  return diffTopics(catalogue, topicOptions(environment));
}

/** Creates missing topics and alters settings. */
export async function applyCatalogue(environment: Environment): Promise<AppliedTopics> {
  const { applyTopics } = await import("@tessera/engines/kafka/topics");
  return applyTopics(catalogue, topicOptions(environment));
}

function topicOptions(environment: Environment): TopicOptions {
  const config = readConfig({ ...engineSettings, ...topicSettings }, environment);
  const { kafkaReplicationFactor: replicationFactor, kafkaMinInSyncReplicas: minInSyncReplicas } = config;
  const log = createLog({ service: "topics", destination: { write: () => {} } });
  return {
    ...kafkaAccess(config, { clientId: "tessera-topics", log }),
    topicPrefix: config.kafkaTopicPrefix,
    ...(replicationFactor === undefined ? {} : { replicationFactor }),
    ...(minInSyncReplicas === undefined ? {} : { minInSyncReplicas }),
  };
}
