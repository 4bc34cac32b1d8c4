import { type Config, readConfig, type Settings } from "@tessera/kit/config";
import { Fault } from "@tessera/kit/fault";
import { engineSettings, processSettings, topicSettings } from "../engine-settings.ts";
import { socketNetwork } from "../network.ts";
import { kafkaAccess, openFiles } from "../open-engines.ts";
import { readPort } from "../options.ts";
import { refuseLostFacts } from "../platform.ts";
import { services } from "../services.ts";
import { type Finding, well } from "./finding.ts";
import { judgeBaseUrl } from "./judge-base-url.ts";
import { judgeSecrets } from "./judge-secrets.ts";
import { findMisspelled } from "./misspelled.ts";
import type { Service, Surroundings } from "./surroundings.ts";
import { tellRefusal } from "./tell-failure.ts";

/** Examines what the environment says: each setting by itself, what does not go together, what looks like a mistake. */
export async function examineConfiguration(around: Surroundings): Promise<Finding[]> {
  const { definitions, environment } = around;
  const settings = settingsOf(definitions);
  const unreadable = findUnreadable(settings, around);
  const refused = await findRefused(around);
  const findings = [
    ...unreadable,
    ...refused,
    ...judgeDatabaseUrl(around),
    ...judgeBaseUrl(around),
    ...judgeSecrets(around),
    ...findMisspelled(environment, knownNames(Object.values(settings).map(({ name }) => name))),
  ];
  const names = definitions.map(({ name }) => name).join(", ");
  return unreadable.length + refused.length > 0
    ? findings
    : [well(`all ${Object.keys(settings).length} settings of ${names} can be read`), ...findings];
}

/** Every setting that a process of these services reads, by its name; some stand in several tables. */
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

function knownNames(settings: readonly string[]): string[] {
  return [...new Set([...settings, ...commandNames])];
}

/** The setting that says where a peer serves gRPC. */
export function addressSetting(service: string): string {
  return `${service.replaceAll("-", "_").toUpperCase()}_ADDRESS`;
}

function findUnreadable(settings: Settings, { environment, isWhole }: Surroundings): Finding[] {
  const findings: Finding[] = [];
  try {
    readConfig(settings, environment);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    for (const [name, problems] of Object.entries(error.fields ?? {})) {
      const setting = settings[name];
      const fallback = setting?.fallback === undefined ? "" : `; left out it is ${setting.fallback}`;
      findings.push({
        level: "wrong",
        what: `${name} ${problems.join(", ")}`,
        ...(setting === undefined ? {} : { why: setting.description }),
        mend: `set ${name} to ${setting?.takes ?? "what it takes"}${fallback}`,
      });
    }
  }
  const port = environment["METRICS_PORT"] || (isWhole ? "0" : "9090");
  // What is no number at all was told with the gateway's settings.
  const isFree = isWhole && environment["HTTP_PORT"] === "0";
  return [
    ...findings,
    ...(isFree ? refusalsOf(() => readPort("HTTP_PORT", "0")) : []),
    ...refusalsOf(() => readPort("METRICS_PORT", port, { lowest: 0 })),
  ];
}

/** What each setting says is right by itself, and `tessera serve` refuses nevertheless. */
async function findRefused(around: Surroundings): Promise<Finding[]> {
  const { config, definitions, environment, isWhole, log } = around;
  const names = definitions.map(({ name }) => name);
  const needs = [...new Set(definitions.flatMap((definition) => definition.needs))];
  const network = { names, needs, environment, place: undefined, ageMs: 1, log, observe: () => {} };
  return [
    ...(isWhole ? [] : refusalsOf(() => socketNetwork(network))),
    ...(await findRefusedEngines(config, { names, around })),
  ];
}

async function findRefusedEngines(
  config: Config<typeof engineSettings>,
  { names, around: { cannotRead, environment, log } }: { names: readonly string[]; around: Surroundings },
): Promise<Finding[]> {
  if (cannotRead(/^(?:BUS|CACHE|FILES)$/)) return [];
  const bus =
    config.bus === "kafka"
      ? [...refusalsOf(() => kafkaAccess(config, { clientId: "tessera-doctor", log })), ...judgeReplicas(environment)]
      : await laterRefusalsOf(() => refuseLostFacts(names));
  const files = config.files === "s3" ? await laterRefusalsOf(async () => (await openFiles(config)).close()) : [];
  return [...bus, ...(config.cache === "redis" ? judgeRedisUrl(config.redisUrl?.reveal()) : []), ...files];
}

function judgeReplicas(environment: Surroundings["environment"]): Finding[] {
  const [copies, inSync] = ["KAFKA_REPLICATION_FACTOR", "KAFKA_MIN_IN_SYNC_REPLICAS"].map((name) =>
    Number(environment[name] || Number.NaN),
  );
  if (copies === undefined || inSync === undefined || !(inSync > copies)) return [];
  return [
    {
      level: "wrong",
      what: "KAFKA_MIN_IN_SYNC_REPLICAS is above KAFKA_REPLICATION_FACTOR",
      why: "the brokers would take no fact at all",
      mend: "set it to one less than KAFKA_REPLICATION_FACTOR, so that one broker may be away",
    },
  ];
}

function judgeRedisUrl(url: string | undefined): Finding[] {
  const protocol = url !== undefined && URL.canParse(url) ? new URL(url).protocol : undefined;
  if (protocol === "redis:" || protocol === "rediss:") return [];
  const what = url === undefined ? "REDIS_URL is required with CACHE=redis" : "REDIS_URL is no address of Redis";
  return [{ level: "wrong", what, mend: "set REDIS_URL to redis://host:6379, or rediss:// for TLS" }];
}

function judgeDatabaseUrl({ database, isWhole }: Surroundings): Finding[] {
  if (database.url === undefined) {
    if (isWhole) return [];
    const what = "DATABASE_URL is required: single services bring no database along";
    return [{ level: "wrong", what, mend: "set DATABASE_URL to postgresql://user:password@host:5432/database" }];
  }
  if (/^postgres(?:ql)?:\/\/./.test(database.url)) return [];
  return [
    {
      level: "wrong",
      what: "DATABASE_URL is no address of PostgreSQL",
      mend: "set DATABASE_URL to postgresql://user:password@host:5432/database",
    },
  ];
}

function refusalsOf(attempt: () => unknown): Finding[] {
  try {
    attempt();
    return [];
  } catch (error) {
    if (error instanceof Fault) return tellRefusal(error);
    throw error;
  }
}

async function laterRefusalsOf(attempt: () => Promise<unknown>): Promise<Finding[]> {
  try {
    await attempt();
    return [];
  } catch (error) {
    if (error instanceof Fault) return tellRefusal(error);
    throw error;
  }
}
