import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bus } from "@tessera/kit/bus/bus";
import { createAuthority, type TestAuthority, writeCertificate } from "@tessera/testkit/certificates";
import { collect, eventually, numbered, quiet } from "@tessera/testkit/engines/kafka-bed";
import { type KafkaEngine, startKafka } from "@tessera/testkit/engines/kafka-broker";
import kafkajs from "kafkajs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { kafkaBus } from "./kafka.ts";
import { type KafkaAccess, kafkaClient } from "./kafka-client.ts";
import { applyTopics, type DeclaredTopic } from "./kafka-topics.ts";
import type { TlsFiles } from "./tls-files.ts";

const catalogue: readonly DeclaredTopic[] = ["boxoffice.item-changed.v1", "checkin.scan-decided.v1"].map((name) => ({
  name,
  partitions: 1,
  retention: { kind: "compacted" },
}));
const [ofBoxoffice = "", ofCheckin = ""] = catalogue.map(({ name }) => name);
const topicPrefix = "tessera.";

let authority: TestAuthority;
let directory: string;
let engine: KafkaEngine;
let files: Required<TlsFiles>;
const opened: Bus[] = [];

const passwords = { broker: "pw-broker", boxoffice: "pw-boxoffice", topics: "pw-topics" };

beforeAll(async () => {
  authority = await createAuthority();
  directory = await mkdtemp(join(tmpdir(), "tessera-kafka-tls-"));
  const own = await authority.issue({ names: ["127.0.0.1"] });
  await writeFile(join(directory, "ca.pem"), authority.certificate);
  await writeFile(join(directory, "broker.pem"), own.key + own.certificate);
  const known = Object.entries(passwords).map(([user, password]) => `user_${user}="${password}"`);
  const login = `org.apache.kafka.common.security.plain.PlainLoginModule required username="broker" password="pw-broker"`;
  engine = await startKafka({
    protocol: "SASL_SSL",
    settings: {
      "ssl.keystore.type": "PEM",
      "ssl.keystore.location": join(directory, "broker.pem"),
      "ssl.truststore.type": "PEM",
      "ssl.truststore.location": join(directory, "ca.pem"),
      "listener.name.clients.ssl.client.auth": "required",
      "sasl.enabled.mechanisms": "PLAIN",
      "sasl.mechanism.inter.broker.protocol": "PLAIN",
      "listener.name.clients.plain.sasl.jaas.config": `${login} ${known.join(" ")};`,
      "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      // Its own requests come to the listener of the controllers, which has no accounts.
      "super.users": "User:broker;User:ANONYMOUS",
    },
  });
  files = await writeCertificate(join(directory, "client"), {
    ...(await authority.issue({ names: ["boxoffice"] })),
    authority: authority.certificate,
  });
  await allowAsDocumented();
  await applyTopics(catalogue, { ...as("topics"), topicPrefix });
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
});

afterAll(async () => {
  await engine.stop();
  await rm(directory, { recursive: true, force: true });
});

type Account = keyof typeof passwords;

function as(
  username: Account,
  {
    password = passwords[username],
    tls = files,
    host = "127.0.0.1",
  }: { password?: string; tls?: TlsFiles; host?: string } = {},
): KafkaAccess {
  return {
    brokers: [engine.brokers.replace("127.0.0.1", host)],
    clientId: "test",
    tls,
    sasl: { mechanism: "plain", username, password },
    log: quiet,
  };
}

/** The ACLs of docs/operations.md for boxoffice, and for the account of `tessera topics apply`. */
async function allowAsDocumented(): Promise<void> {
  const { AclResourceTypes: on, AclOperationTypes: may, AclPermissionTypes, ResourcePatternTypes } = kafkajs;
  const rule = (principal: Account, resourceType: number, resourceName: string, operations: readonly number[]) =>
    operations.map((operation) => ({
      ...{ principal: `User:${principal}`, host: "*", permissionType: AclPermissionTypes.ALLOW },
      ...{ resourceType, resourceName, operation, resourcePatternType: ResourcePatternTypes.PREFIXED },
    }));
  const acl = [
    ...rule("boxoffice", on.TOPIC, "tessera.", [may.READ, may.DESCRIBE]),
    ...rule("boxoffice", on.TOPIC, "tessera.boxoffice.", [may.WRITE]),
    ...rule("boxoffice", on.TRANSACTIONAL_ID, "tessera.relay/boxoffice.", [may.WRITE, may.DESCRIBE]),
    ...rule("boxoffice", on.GROUP, "tessera.boxoffice.", [may.READ]),
    ...rule("topics", on.TOPIC, "tessera.", [
      may.CREATE,
      may.ALTER,
      may.ALTER_CONFIGS,
      may.DESCRIBE_CONFIGS,
      may.DESCRIBE,
    ]),
  ];
  await kafkaClient(as("broker")).administer(30_000, (admin) => admin.createAcls({ acl }));
}

function open(access: KafkaAccess): Bus {
  const bus = kafkaBus({ ...access, topicPrefix, publishTimeoutMs: 8000 });
  opened.push(bus);
  return bus;
}

/** Whether the brokers can be asked with this access, else why not. */
function reach(access: KafkaAccess): Promise<string> {
  return kafkaClient(access)
    .administer(10_000, (admin) => admin.describeCluster())
    .then(
      () => "reached",
      (error: unknown) => String(error),
    );
}

describe("brokers with TLS, accounts and ACLs", () => {
  it("[S11.6] carry facts for a service with its certificate and password", async () => {
    const bus = open(as("boxoffice"));
    const mine = await collect(bus, { group: "boxoffice", topic: ofBoxoffice });
    await bus.publish(ofBoxoffice, [numbered("k", 1), numbered("k", 2)]);
    await eventually(() => mine.numbers().length === 2);
    expect(mine.numbers()).toEqual([1, 2]);
    expect(await bus.partitions(ofCheckin)).toBe(1);
    expect(await bus.backlog()).toEqual([expect.objectContaining({ group: "boxoffice" })]);
  });

  it("accept no fact of another service from it", async () => {
    const bus = open(as("boxoffice"));
    await expect(bus.publish(ofCheckin, [numbered("k", 1)])).rejects.toMatchObject({ kind: "unavailable" });
    const read = await kafkaClient(as("broker")).administer(10_000, (admin) =>
      admin.fetchTopicOffsets(`${topicPrefix}${ofCheckin}`),
    );
    expect(read.map(({ high }) => high)).toEqual(["0"]);
  });

  it("[S11.6] are not used without a known authority, the right name, and what they ask for", async () => {
    const other = await createAuthority("another authority");
    const place = async (name: string, by: TestAuthority, trusts: TestAuthority) =>
      writeCertificate(join(directory, name), { ...(await by.issue({ names: ["x"] })), authority: trusts.certificate });
    const attempts: [access: KafkaAccess, outcome: RegExp][] = [
      [as("boxoffice"), /^reached$/],
      [as("boxoffice", { tls: await place("unknown", authority, other) }), /certificate/],
      [as("boxoffice", { tls: {} }), /certificate/],
      // The certificate of the broker is for an address alone.
      [as("boxoffice", { host: "localhost" }), /does not match certificate/],
      [as("boxoffice", { tls: { authority: files.authority } }), /alert/],
      [as("boxoffice", { tls: await place("foreign", other, authority) }), /alert/],
      [as("boxoffice", { password: "wrong" }), /[Aa]uthentication failed/],
    ];
    expect(await Promise.all(attempts.map(([access]) => reach(access)))).toEqual(
      attempts.map(([, outcome]) => expect.stringMatching(outcome)),
    );
  });

  it("[S11.4] are reached with exchanged files by connections that are made later", async () => {
    const exchanged = await writeCertificate(join(directory, "exchanged"), {
      ...(await authority.issue({ names: ["x"], until: new Date(Date.now() - 1000) })),
      authority: authority.certificate,
    });
    const client = kafkaClient(as("boxoffice", { tls: exchanged }));
    const ask = () => client.administer(10_000, (admin) => admin.describeCluster());
    await expect(ask()).rejects.toThrow(/alert/);
    const renewed = { ...(await authority.issue({ names: ["x"] })), authority: authority.certificate };
    await writeCertificate(join(directory, "exchanged"), renewed);
    expect((await ask()).brokers).toHaveLength(1);
  });
});
