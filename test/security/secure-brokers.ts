import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, type TestAuthority } from "@tessera/testkit/certificates";
import { type KafkaEngine, startKafka } from "@tessera/testkit/engines/kafka-broker";

/** A broker that knows its clients by their passwords, and allows what its rules say. */
export interface SecureBrokers {
  readonly engine: KafkaEngine;
  readonly authority: TestAuthority;
  /** Holds `ca.pem`, and is deleted with the broker. */
  readonly directory: string;
  /** The settings of a process with this account. `broker` may do everything. */
  settingsOf(account: string, changes?: Readonly<Record<string, string>>): Record<string, string>;
  stop(): Promise<void>;
}

const passwordOf = (account: string) => `pw-${account}`;

/** Starts it with these accounts. The certificate at its other address has expired. */
export async function startSecureBrokers(
  accounts: readonly string[],
  {
    clientCertificates = false,
    host,
  }: {
    readonly clientCertificates?: boolean;
    /** The address of this machine at which clients reach it. By default this machine alone reaches it. */
    readonly host?: string;
  } = {},
): Promise<SecureBrokers> {
  const authority = await createAuthority();
  const directory = await mkdtemp(join(tmpdir(), "tessera-secure-brokers-"));
  const issue = async (name: string, until: Date) => {
    const own = await authority.issue({ names: ["127.0.0.1", ...(host === undefined ? [] : [host])], until });
    await writeFile(join(directory, name), own.key + own.certificate);
    return join(directory, name);
  };
  await writeFile(join(directory, "ca.pem"), authority.certificate);
  const known = ["broker", ...accounts];
  const plain = known.map((account) => `user_${account}="${passwordOf(account)}"`).join(" ");
  const login = `PlainLoginModule required username="broker" password="${passwordOf("broker")}"`;
  const [current, expired] = [new Date(Date.now() + 3_600_000), new Date(Date.now() - 1000)];
  const mechanisms = {
    "plain.sasl.jaas.config": `org.apache.kafka.common.security.plain.${login} ${plain};`,
    "scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
    "ssl.client.auth": clientCertificates ? "required" : "none",
  };
  const listeners = ["clients", "other"].flatMap((listener) =>
    Object.entries(mechanisms).map(([name, value]) => [`listener.name.${listener}.${name}`, value]),
  );
  const engine = await startKafka({
    ...(host === undefined ? {} : { host }),
    protocol: "SASL_SSL",
    accounts: Object.fromEntries(known.map((account) => [account, passwordOf(account)])),
    settings: {
      ...Object.fromEntries(listeners),
      "ssl.keystore.type": "PEM",
      "ssl.keystore.location": await issue("broker.pem", current),
      "listener.name.other.ssl.keystore.location": await issue("expired.pem", expired),
      "ssl.truststore.type": "PEM",
      "ssl.truststore.location": join(directory, "ca.pem"),
      "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
      "sasl.mechanism.inter.broker.protocol": "PLAIN",
      "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      // Its own requests come to the listener of the controllers, which has no accounts.
      "super.users": "User:broker;User:ANONYMOUS",
    },
  });
  return {
    engine,
    authority,
    directory,
    settingsOf: (account, changes) => ({
      BUS: "kafka",
      KAFKA_BROKERS: engine.brokers,
      KAFKA_TLS: "on",
      KAFKA_TLS_CA: join(directory, "ca.pem"),
      KAFKA_SASL_MECHANISM: "scram-sha-512",
      KAFKA_SASL_USERNAME: account,
      KAFKA_SASL_PASSWORD: passwordOf(account),
      ...changes,
    }),
    async stop() {
      await engine.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
