import { isOwnHost } from "../secure-calls.ts";
import { type Finding, only, warning } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

/** Judges connections that leave this machine in the clear, or whose other end cannot know who this process is. */
export function judgeEncryption({ config, environment, database }: Surroundings): Finding[] {
  return [...(config.bus === "kafka" ? judgeKafka(config) : []), ...judgeDatabase(database.url, environment)];
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
