import { isOwnHost } from "../secure-calls.ts";
import { type Finding, only, warning } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

/** Judges connections that leave this machine in the clear, or whose other end cannot know who this process is. */
export function judgeEncryption({ config, environment, database }: Surroundings): Finding[] {
  return [
    ...(config.bus === "kafka" ? judgeKafka(config) : []),
    ...judgeDatabase(database.url, environment),
    ...(config.cache === "redis" ? judgeRedis(config.redisUrl?.reveal()) : []),
    ...(config.files === "s3" ? judgeFiles(config.s3Endpoint) : []),
  ];
}

function judgeRedis(url = ""): Finding[] {
  return only([
    leavesInTheClear(url, "redis:") &&
      warning("limits are counted at a Redis without TLS", {
        why: "every machine on the way can learn its password, and lift the limits",
        mend: "use rediss:// in REDIS_URL, and REDIS_TLS_CA for an authority of your own",
      }),
  ]);
}

function judgeFiles(url = ""): Finding[] {
  return only([
    leavesInTheClear(url, "http:") &&
      warning("files travel to the file store without TLS", {
        why: "every machine on the way can read tickets and what visitors have uploaded",
        mend: "use https:// in S3_ENDPOINT, and S3_TLS_CA for an authority of your own",
      }),
  ]);
}

function leavesInTheClear(url: string, clearly: string): boolean {
  const { protocol = "", hostname = "" } = URL.parse(url) ?? {};
  return protocol === clearly && hostname !== "" && !isOwnHost(hostname);
}

function judgeKafka(config: Surroundings["config"]): Finding[] {
  const brokers = (config.kafkaBrokers ?? "").split(",").map((broker) => broker.trim().replace(/:\d+$/, ""));
  if (brokers.every((host) => host === "" || isOwnHost(host))) return [];
  const isAnonymous = config.kafkaSaslMechanism === "none" && config.kafkaTlsCertificate === undefined;
  return only([
    config.kafkaTls === "off" &&
      warning("facts travel to the brokers without TLS", {
        why: "every machine on the way can read the names of customers, and publish API keys",
        mend: "set KAFKA_TLS=on, and KAFKA_TLS_CA to the authority of the brokers",
      }),
    isAnonymous &&
      warning("this process does not authenticate to the brokers", {
        why: "brokers that admit it admit everybody who reaches them",
        mend: "set KAFKA_SASL_MECHANISM, or KAFKA_TLS_CERT and KAFKA_TLS_KEY, and ACLs in the brokers",
      }),
  ]);
}

function judgeDatabase(url: string | undefined, environment: Surroundings["environment"]): Finding[] {
  const { protocol = "", hostname = "" } = URL.parse(url ?? "") ?? {};
  if (url === undefined || !protocol.startsWith("postgres") || hostname === "" || isOwnHost(hostname)) return [];
  const mode = /[?&]sslmode=([^&#]*)/.exec(url)?.[1] ?? environment["PGSSLMODE"] ?? "";
  // As the driver reads them: without libpq's meaning, all of these verify the certificate and its name.
  const verified = /[?&]uselibpqcompat=true/.test(url) ? /^verify-full$/ : /^(?:prefer|require|verify-ca|verify-full)$/;
  return only([
    !verified.test(mode) &&
      warning("the database is not asked for a certificate", {
        why: "every machine on the way can read and change everything, and learn the password",
        mend: "add sslmode=verify-full to DATABASE_URL, and sslrootcert=FILE for an authority of your own",
      }),
  ]);
}
