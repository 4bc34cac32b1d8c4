import { readConfig, type Settings } from "@tessera/kit/config";
import { Fault } from "@tessera/kit/fault";
import { engineSettings, processSettings, topicSettings } from "../engine-settings.ts";
import { addressSetting, socketNetwork } from "../network.ts";
import { kafkaAccess, openFiles } from "../open-engines.ts";
import { readPort } from "../options.ts";
import { refuseLostFacts } from "../platform.ts";
import { services } from "../services.ts";
import { isRedisUrl } from "./examine-cache.ts";
import { explainRefusal } from "./explain-failure.ts";
import { findMisspelled } from "./find-misspelled.ts";
import { type Finding, only, well, wrong } from "./finding.ts";
import { judgeBaseUrl } from "./judge-base-url.ts";
import { judgeSecrets } from "./judge-secrets.ts";
import type { Service, Surroundings } from "./surroundings.ts";

/** Examines the environment: each setting by itself, what does not go together, what looks like a mistake. */
export async function examineConfiguration(around: Surroundings): Promise<Finding[]> {
  const { definitions, environment } = around;
  const settings = settingsOf(definitions);
  const refused = [...(await findUnreadable(settings, around)), ...(await findRefused(around))];
  const names = definitions.map(({ name }) => name).join(", ");
  return [
    ...(refused.length > 0 ? refused : [well(`all ${Object.keys(settings).length} settings of ${names} can be read`)]),
    ...judgeDatabaseUrl(around),
    ...judgeBaseUrl(around),
    ...judgeSecrets(around),
    ...findMisspelled(environment, [...Object.keys(settings), ...commandNames]),
  ];
}

/** Every setting that a process of these services reads, by its name; some are in several tables. */
export function settingsOf(definitions: readonly Service[]): Settings {
  const tables: Settings[] = [
    engineSettings,
    topicSettings,
    processSettings,
    ...definitions.map((each) => each.settings as Settings),
  ];
  return Object.fromEntries(tables.flatMap((table) => Object.values(table)).map((setting) => [setting.name, setting]));
}

/** Names that the command itself reads, beside the tables of settings. */
const commandNames = [
  ...["DATABASE_URL", "METRICS_PORT", "TESSERA_OPERATOR_KEY", "TESSERA_ENGINES", "OTEL_EXPORTER_OTLP_ENDPOINT"],
  ...Object.keys(services).map(addressSetting),
];

async function findUnreadable(settings: Settings, { environment, isWhole }: Surroundings): Promise<Finding[]> {
  const fault = await faultOf(() => readConfig(settings, environment));
  const unreadable = Object.entries(fault?.fields ?? {}).map(([name, problems]) => {
    const setting = settings[name];
    const fallback = setting?.fallback === undefined ? "" : `; left out it is ${setting.fallback}`;
    return wrong(`${name} ${problems.join(", ")}`, {
      why: setting?.description,
      mend: `set ${name} to ${setting?.takes ?? "what it takes"}${fallback}`,
    });
  });
  const port = environment["METRICS_PORT"] || (isWhole ? "0" : "9090");
  // With all services in one process links are made with the port, so it must be known.
  const isUnknown = isWhole && environment["HTTP_PORT"] === "0";
  return [
    ...unreadable,
    ...(isUnknown ? await refusalsOf(() => readPort("HTTP_PORT", "0")) : []),
    ...(await refusalsOf(() => readPort("METRICS_PORT", port, { lowest: 0 }))),
  ];
}

/** What each setting says is right by itself, and `tessera serve` refuses nevertheless. */
async function findRefused({
  config,
  definitions,
  environment,
  isWhole,
  unreadable,
  log,
}: Surroundings): Promise<Finding[]> {
  const names = definitions.map(({ name }) => name);
  const needs = [...new Set(definitions.flatMap((definition) => definition.needs))];
  const network = { names, needs, environment, place: undefined, ageMs: 1, log, observe: () => {} };
  const peers = isWhole ? [] : await refusalsOf(() => socketNetwork(network));
  if (unreadable.some((name) => ["BUS", "CACHE", "FILES"].includes(name))) return peers;
  const bus =
    config.bus === "kafka"
      ? [
          ...(await refusalsOf(() => kafkaAccess(config, { clientId: "tessera-doctor", log }))),
          ...judgeReplicas(environment),
        ]
      : await refusalsOf(() => refuseLostFacts(names));
  const cache = config.cache === "redis" ? judgeRedisUrl(config.redisUrl?.reveal()) : [];
  const files = config.files === "s3" ? await refusalsOf(async () => (await openFiles(config)).close()) : [];
  return [...peers, ...bus, ...cache, ...files];
}

function judgeReplicas(environment: Surroundings["environment"]): Finding[] {
  const read = (name: string) => Number(environment[name] || Number.NaN);
  return only([
    read("KAFKA_MIN_IN_SYNC_REPLICAS") > read("KAFKA_REPLICATION_FACTOR") &&
      wrong("KAFKA_MIN_IN_SYNC_REPLICAS is above KAFKA_REPLICATION_FACTOR", {
        why: "the brokers would take no fact at all",
        mend: "set it to one less than KAFKA_REPLICATION_FACTOR, so that one broker may be away",
      }),
  ]);
}

function judgeRedisUrl(url: string | undefined): Finding[] {
  const what = url === undefined ? "REDIS_URL is required with CACHE=redis" : "REDIS_URL is no address of Redis";
  const mend = "set REDIS_URL to redis://host:6379, or rediss:// for TLS";
  return only([!isRedisUrl(url ?? "") && wrong(what, { mend })]);
}

function judgeDatabaseUrl({ database: { url }, isWhole }: Surroundings): Finding[] {
  const mend = "set DATABASE_URL to postgresql://user:password@host:5432/database";
  if (url === undefined)
    return only([!isWhole && wrong("DATABASE_URL is required: single services bring no database along", { mend })]);
  return only([!/^postgres(?:ql)?:\/\/./.test(url) && wrong("DATABASE_URL is no address of PostgreSQL", { mend })]);
}

async function refusalsOf(attempt: () => unknown): Promise<Finding[]> {
  const fault = await faultOf(attempt);
  return fault === undefined ? [] : explainRefusal(fault);
}

async function faultOf(attempt: () => unknown): Promise<Fault | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}
