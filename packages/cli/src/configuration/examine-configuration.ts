import { once } from "node:events";
import { createServer, isIP } from "node:net";
import { readConfig, type Settings } from "@tessera/kit/config/config";
import { Fault } from "@tessera/kit/fault";
import { type Finding, ok, only, warning, wrong } from "@tessera/kit/service/finding";
import { closestName } from "@tessera/values";
import { explainRefusal } from "../command/explain-failure.ts";
import { databaseUrlAdvice, databaseUrlOf, isDatabaseUrl, readPort } from "../command/options.ts";
import { socketNetwork } from "../serve/network.ts";
import { kafkaAccess, openFiles, redisAccess } from "../serve/open-engines.ts";
import { refuseLostFacts } from "../serve/platform.ts";
import { isOwnHost, requireSecure } from "../serve/secure-calls.ts";
import { engineSettings, processSettings, topicSettings } from "./engine-settings.ts";
import type { Service, Surroundings } from "./surroundings.ts";

/** Examines the environment: each setting, the combinations that `tessera serve` refuses, and addresses that mislead. */
export async function examineConfiguration(around: Surroundings): Promise<Finding[]> {
  const { definitions } = around;
  const settings = settingsOf(definitions);
  const refused = [...(await findUnreadable(settings, around)), ...(await findRefused(around))];
  const names = definitions.map(({ name }) => name).join(", ");
  return [
    ...(refused.length > 0 ? refused : [ok(`all ${Object.keys(settings).length} settings of ${names} can be read`)]),
    ...findMisspelt(around),
    ...(await judgeListening(around)),
    ...judgeDatabaseUrl(around),
    ...judgeGateway(around),
    ...judgeEncryption(around),
  ];
}

/** Every setting that a process of these services reads, by its name; some are in several tables. */
export function settingsOf(definitions: readonly Service[]): Settings {
  const own = definitions.map((definition) => definition.settings as Settings);
  const tables: Settings[] = [engineSettings, topicSettings, processSettings, ...own];
  return Object.fromEntries(tables.flatMap((table) => Object.values(table)).map((setting) => [setting.name, setting]));
}

/** Shorter names are words of their own, one letter from many others. */
const shortestGuessed = 8;

/** Finds variables that no setting reads and that are almost called as one that is not set. */
function findMisspelt({ definitions, given }: Surroundings): Finding[] {
  const known = [...Object.keys(settingsOf(definitions)), "DATABASE_URL", "METRICS_PORT", "TESSERA_OPERATOR_KEY"];
  const guessed = known.filter((name) => name.length >= shortestGuessed);
  return Object.entries(given).flatMap(([name, value]) => {
    const meant = value && !known.includes(name) ? closestName(name, guessed, { mostEdits: 1 }) : undefined;
    return meant === undefined || given[meant] ? [] : [misspelt(name, meant)];
  });
}

function misspelt(name: string, meant: string): Finding {
  return warning`${name} is no setting
    it has no effect
    → if ${meant} is meant, call it ${meant}`;
}

async function findUnreadable(settings: Settings, { environment, isWhole }: Surroundings): Promise<Finding[]> {
  const fault = await faultOf(() => readConfig(settings, environment));
  const unreadable = Object.entries(fault?.fields ?? {}).map(([name, problems]) => {
    const setting = settings[name];
    // The commands know this setting by another name where one process runs the platform.
    const called = isWhole && name === "OPERATOR_KEY" ? "TESSERA_OPERATOR_KEY" : name;
    const fallback = setting?.fallback === undefined ? "" : `; the default is ${setting.fallback}`;
    return wrong`${called} ${problems.join(", ")}
      ${setting?.description}
      → set ${called} to ${setting?.takes ?? "a value that it takes"}${fallback}`;
  });
  // All services in one process make links with the port, so the port must be known.
  const isUnknown = isWhole && environment["HTTP_PORT"] === "0";
  return [
    ...unreadable,
    ...(isUnknown ? await refusalsOf(() => readPort("HTTP_PORT", "0")) : []),
    ...(await refusalsOf(() => readPort("METRICS_PORT", metricsPortOf({ environment, isWhole }), { lowest: 0 }))),
  ];
}

/** The port as it is set, or its default. */
function metricsPortOf({ environment, isWhole }: Pick<Surroundings, "environment" | "isWhole">): string {
  return environment["METRICS_PORT"] || (isWhole ? "0" : "9090");
}

/** Finds addresses that this machine does not have, and two servers of the process at one port. */
async function judgeListening({ definitions, environment, isWhole }: Surroundings): Promise<Finding[]> {
  const isGateway = definitions.some(({ name }) => name === "gateway");
  const hosts = [...(isGateway ? ["HTTP_HOST"] : []), "METRICS_HOST", ...(isWhole ? [] : ["GRPC_HOST"])];
  const strange = await Promise.all(
    hosts.map(async (name) => {
      const host = environment[name] ?? "";
      return (
        !(await canListen(host)) &&
        wrong`${name} is ${host}, which is no address of this machine
          the process does not start
          → set it to an address of this machine; 0.0.0.0 stands for all of them`
      );
    }),
  );
  const port = environment["HTTP_PORT"] || "8000";
  return only([
    ...strange,
    isGateway &&
      port === metricsPortOf({ environment, isWhole }) &&
      port !== "0" &&
      wrong`HTTP_PORT and METRICS_PORT are both ${port}
        the process does not start
        → set METRICS_PORT to another free port`,
  ]);
}

/**
 * Asks for any free port, so it takes none from a platform that starts at this moment. Names are not looked up, because that may take
 * long; an empty text stands for the default.
 */
async function canListen(host: string): Promise<boolean> {
  if (isIP(host) === 0) return true;
  const server = createServer();
  try {
    await once(server.listen({ host, port: 0 }), "listening");
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EADDRNOTAVAIL";
  } finally {
    server.close();
  }
}

/** Finds settings that are valid one by one and that `tessera serve` refuses together. */
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
  const optional = definitions.flatMap((definition) => definition.optional ?? []);
  const network = { names, needs, optional, environment, endpoint: undefined, ageMs: 1, log, observe: () => {} };
  const peers = isWhole ? [] : await refusalsOf(() => socketNetwork(network));
  const calls = { names, peers: needs.filter((peer) => !names.includes(peer)), environment };
  const security =
    isWhole || unreadable.some((name) => name.startsWith("GRPC_"))
      ? []
      : await refusalsOf(() => requireSecure(config, calls));
  if (unreadable.some((name) => ["BUS", "CACHE", "FILES"].includes(name))) return [...peers, ...security];
  const checkBus = () =>
    config.bus === "kafka" ? kafkaAccess(config, { clientId: "tessera-doctor", log }) : refuseLostFacts(names);
  return [
    ...peers,
    ...security,
    ...(await refusalsOf(checkBus)),
    ...(config.bus === "kafka" ? judgeReplicas(environment) : []),
    ...(config.cache === "redis" ? await judgeRedis(config) : []),
    ...(config.files === "s3" ? await refusalsOf(async () => (await openFiles(config)).close()) : []),
  ];
}

function judgeReplicas(environment: Surroundings["environment"]): Finding[] {
  const read = (name: string) => Number(environment[name] || Number.NaN);
  return only([
    read("KAFKA_MIN_IN_SYNC_REPLICAS") > read("KAFKA_REPLICATION_FACTOR") &&
      wrong`KAFKA_MIN_IN_SYNC_REPLICAS is above KAFKA_REPLICATION_FACTOR
        the brokers would accept no fact at all
        → set it to one less than KAFKA_REPLICATION_FACTOR, so that one broker may be down`,
  ]);
}

async function judgeRedis(config: Surroundings["config"]): Promise<Finding[]> {
  const url = config.redisUrl?.reveal();
  if (isRedisUrl(url ?? "")) return refusalsOf(() => redisAccess(config));
  return [
    wrong`REDIS_URL is ${url === undefined ? "required with CACHE=redis" : "no address of Redis"}
      → set REDIS_URL to redis://host:6379, or rediss:// for TLS`,
  ];
}

/** Whether this is an address of Redis. */
export function isRedisUrl(url: string): boolean {
  return /^rediss?:\/\/./.test(url) && URL.canParse(url);
}

function judgeDatabaseUrl({ environment, isWhole }: Surroundings): Finding[] {
  const url = databaseUrlOf(environment);
  const what = url === undefined ? "is required: single services bring no database" : "is no address of PostgreSQL";
  return only([
    (url === undefined ? !isWhole : !isDatabaseUrl(url)) &&
      wrong`DATABASE_URL ${what}
        → ${databaseUrlAdvice}`,
  ]);
}

const oidcSettings = ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"];

/** Judges the base address of all links, the provider of identities, and whether records can be imported. */
function judgeGateway({ definitions, environment, isWhole }: Surroundings): Finding[] {
  if (!definitions.some(({ name }) => name === "gateway")) return [];
  const given = environment["BASE_URL"] ?? "";
  // `findUnreadable` reports what is no URL.
  const url = URL.parse(given);
  const isOpen = !isOwnHost(environment["HTTP_HOST"] || "127.0.0.1");
  const missing = oidcSettings.filter((name) => !environment[name]);
  return only([
    url !== null &&
      (!/^https?:$/.test(url.protocol) || `${url.username}${url.password}${url.search}${url.hash}` !== "") &&
      wrong`BASE_URL is more than the http or https address of a host
        every link is this address with a path behind it, and all clients see it
        → set it to the address that clients use, for instance https://tickets.example`,
    url !== null &&
      /\/api(?:\/|$)/.test(url.pathname) &&
      wrong`BASE_URL ends with the path of the interface
        links in answers have it twice, and lead nowhere
        → set it to the address without /api/v1`,
    isOpen &&
      (given === "" || isOwnHost(url?.hostname ?? "")) &&
      warning`BASE_URL is ${given === "" ? "not set" : "an address that only this machine can use"}
        HTTP_HOST admits other machines, and links in their answers lead them to themselves
        → set BASE_URL to the address that clients use`,
    missing.length > 0 &&
      missing.length < oidcSettings.length &&
      wrong`${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} not set, and other settings of the provider of identities are
        the gateway does not start
        → set it, or none of ${oidcSettings.join(", ")}`,
    // A local start creates a key, and keeps it in the data folder.
    !isWhole &&
      !environment["OPERATOR_KEY"] &&
      warning`OPERATOR_KEY is not set
        imports, and the commands for keys and devices, are refused
        → set it to what \`openssl rand -hex 32\` prints`,
  ]);
}

/** Judges unencrypted connections to other machines, and connections without client authentication. */
function judgeEncryption({ config, environment, database }: Surroundings): Finding[] {
  const brokers = (config.kafkaBrokers ?? "").split(",").map((broker) => broker.trim().replace(/:\d+$/, ""));
  const isKafkaAway = config.bus === "kafka" && !brokers.every((host) => host === "" || isOwnHost(host));
  const isAnonymous = config.kafkaSaslMechanism === "none" && config.kafkaTlsCertificate === undefined;
  return only([
    isKafkaAway &&
      config.kafkaTls === "off" &&
      warning`facts travel to the brokers without TLS
        every machine on the way can read the names of customers, and publish API keys
        → set KAFKA_TLS=on, and KAFKA_TLS_CA to the authority of the brokers`,
    isKafkaAway &&
      isAnonymous &&
      warning`this process does not authenticate to the brokers
        brokers that admit it admit everybody who reaches them
        → set KAFKA_SASL_MECHANISM, or KAFKA_TLS_CERT and KAFKA_TLS_KEY, and ACLs in the brokers`,
    leaves(database.url, /^postgres/) &&
      !asksForCertificate(database.url ?? "", environment) &&
      warning`the database is not asked for a certificate
        every machine on the way can read and change everything, and learn the password
        → add sslmode=verify-full to DATABASE_URL, and sslrootcert=FILE for an authority of your own`,
    config.cache === "redis" &&
      leaves(config.redisUrl?.reveal(), /^redis:/) &&
      warning`limits are counted at a Redis without TLS
        every machine on the way can learn its password, and lift the limits
        → use rediss:// in REDIS_URL, and REDIS_TLS_CA for an authority of your own`,
    config.files === "s3" &&
      leaves(config.s3Endpoint, /^http:/) &&
      warning`files travel to the file store without TLS
        every machine on the way can read tickets and what visitors have uploaded
        → use https:// in S3_ENDPOINT, and S3_TLS_CA for an authority of your own`,
  ]);
}

/** Whether an address with this protocol is that of another machine. */
function leaves(url: string | undefined, wanted: RegExp): boolean {
  const { protocol = "", hostname = "" } = URL.parse(url ?? "") ?? {};
  return wanted.test(protocol) && hostname !== "" && !isOwnHost(hostname);
}

function asksForCertificate(url: string, environment: Surroundings["environment"]): boolean {
  const mode = /[?&]sslmode=([^&#]*)/.exec(url)?.[1] ?? environment["PGSSLMODE"] ?? "";
  // As the driver interprets it: except with libpq's semantics, all of these verify the certificate and its name.
  const verified = /[?&]uselibpqcompat=true/.test(url) ? /^verify-full$/ : /^(?:prefer|require|verify-ca|verify-full)$/;
  return verified.test(mode);
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
