import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { engineSettings } from "@tessera/cli/configuration/engine-settings";
import { examineBus } from "@tessera/cli/doctor/examine-bus";
import { kafkaAccess, openBus } from "@tessera/cli/serve/open-engines";
import { loadServices } from "@tessera/cli/services";
import { applyCatalogue } from "@tessera/cli/topics/catalogue";
import { listAllowances } from "@tessera/cli/topics/list-allowances";
import { allow } from "@tessera/engines/kafka/acls";
import { type KafkaClient, kafkaClient, kafkaErrorType } from "@tessera/engines/kafka/client";
import type { Bus } from "@tessera/kit/bus/bus";
import { readConfig } from "@tessera/kit/config/config";
import { catalogue, recordFeed, topics } from "@tessera/protos/topics";
import { createAuthority, writeCertificate } from "@tessera/testkit/certificates";
import { collect, numbered, publishUntilTaken, quiet } from "@tessera/testkit/engines/kafka-bed";
import { eventually } from "@tessera/testkit/eventually";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { examineEngine } from "./examine-engine.ts";
import { type SecureBrokers, startSecureBrokers } from "./secure-brokers.ts";

const services = await loadServices(["all"]);
const prefix = "tessera.";
let brokers: SecureBrokers;
const opened: Bus[] = [];

beforeAll(async () => {
  brokers = await startSecureBrokers([...services.map(({ name }) => name), "topics", "shop"], {
    clientCertificates: true,
  });
  await writeFile(join(brokers.directory, "other.pem"), (await createAuthority("another authority")).certificate);
  await exchangeFiles();
  const allowances = await listAllowances({ prefix, principalOf: (name) => `User:${name}` });
  await allow(allowances, accessOf("broker"));
  await applyCatalogue(settingsOf("topics"));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
});
afterAll(() => brokers.stop());

/** Writes a certificate for the clients, which the brokers ask for. */
async function exchangeFiles(until = new Date(Date.now() + 3_600_000)): Promise<void> {
  const issued = await brokers.authority.issue({ names: ["client"], until });
  await writeCertificate(brokers.directory, { ...issued, authority: brokers.authority.certificate });
}

function settingsOf(account: string, changes: Readonly<Record<string, string>> = {}): Record<string, string> {
  const file = (name: string) => join(brokers.directory, name);
  return brokers.settingsOf(account, { KAFKA_TLS_CERT: file("tls.pem"), KAFKA_TLS_KEY: file("key.pem"), ...changes });
}

const accessOf = (account: string, changes?: Readonly<Record<string, string>>) =>
  kafkaAccess(readConfig(engineSettings, settingsOf(account, changes)), { clientId: "test", log: quiet });

async function openAs(account: string, changes?: Readonly<Record<string, string>>): Promise<Bus> {
  const config = readConfig(engineSettings, settingsOf(account, changes));
  const bus = await openBus(config, { definitions: [], log: quiet });
  opened.push(bus);
  return bus;
}

/** The broker's answer to a consumer of the group: `read`, or the name of its refusal. */
async function read(client: KafkaClient, group: string, topic: string): Promise<string> {
  const consumer = client.consumer({
    groupId: `${prefix}${group}`,
    sessionTimeoutMs: 10_000,
    heartbeatIntervalMs: 1000,
  });
  const outcome = Promise.withResolvers<string>();
  const refuse = (error: unknown) => outcome.resolve(nameOf(error));
  consumer.on(consumer.events.CRASH, ({ payload }) => refuse(payload.error));
  consumer.on(consumer.events.FETCH, () => outcome.resolve("read"));
  await consumer.connect();
  consumer
    .subscribe({ topic: `${prefix}${topic}` })
    .then(() => consumer.run({ eachBatch: async () => {} }))
    .catch(refuse);
  const answer = await outcome.promise;
  await consumer.disconnect();
  return answer;
}

/** The broker's answer to a message for the topic in a transaction with this id. */
async function write(client: KafkaClient, transactionalId: string, topic: string): Promise<string> {
  const { producer } = client.producer(`${prefix}${transactionalId}`);
  try {
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({ topic: `${prefix}${topic}`, messages: [{ key: "k", value: null }] });
    await transaction.abort();
    return "written";
  } catch (error) {
    return nameOf(error);
  } finally {
    await producer.disconnect();
  }
}

function nameOf(error: unknown): string {
  return kafkaErrorType(error) ?? (error instanceof Error ? error.name : "");
}

const ownedBy = (service: string) => catalogue.flatMap(({ name, owner }) => (owner === service ? [name] : []));

describe("brokers with TLS, accounts and access rules", () => {
  it.each(["plain", "scram-sha-512"])("[S11.6] carry facts of an account with %s", async (mechanism) => {
    const bus = await openAs("boxoffice", { KAFKA_SASL_MECHANISM: mechanism });
    const group = { group: "checkin", topic: topics.categoryChanged.name };
    const mine = await collect(await openAs("checkin", { KAFKA_SASL_MECHANISM: mechanism }), group);
    await publishUntilTaken(bus, topics.categoryChanged.name, [numbered(mechanism, 1), numbered(mechanism, 2)]);
    await eventually(() => mine.numbers(mechanism).length === 2);
    expect(mine.numbers(mechanism)).toEqual([1, 2]);
  });

  it("[S11.6] [S11.11] are examined by the doctor, who says why they cannot be used", async () => {
    const examine = (changes: Readonly<Record<string, string>> = {}) =>
      examineEngine(examineBus, settingsOf("checkin", changes), ["checkin"]);
    const named = settingsOf("checkin")["KAFKA_BROKERS"] ?? "";
    const refused = (why: string, address = named) => `wrong: the brokers at ${address} cannot be used | ${why}`;
    await expect.poll(() => examine()).toBe(`ok: the cluster of ${named} answers: 1 broker`);
    const login = "correct KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD";
    const misnamed = named.replace("127.0.0.1", "localhost");
    const expired = brokers.engine.other;
    const attempts: [changes: Readonly<Record<string, string>>, answer: unknown][] = [
      [
        { KAFKA_TLS_CA: join(brokers.directory, "other.pem") },
        refused(
          "the authority of its certificate is unknown here (UNABLE_TO_VERIFY_LEAF_SIGNATURE) | set KAFKA_TLS_CA to a file with that authority",
        ),
      ],
      [
        { KAFKA_BROKERS: misnamed },
        refused(
          "its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID) | use the name that the certificate is for",
          misnamed,
        ),
      ],
      [
        { KAFKA_BROKERS: expired },
        refused(
          "its certificate has expired (CERT_HAS_EXPIRED) | renew it, and look at the clock of this machine",
          expired,
        ),
      ],
      ...["plain", "scram-sha-512"].map((KAFKA_SASL_MECHANISM): [Readonly<Record<string, string>>, unknown] => [
        { KAFKA_SASL_MECHANISM, KAFKA_SASL_PASSWORD: "wrong" },
        expect.stringMatching(
          new RegExp(`^${refused("SASL .* authentication failed: [^|]* | ").replaceAll("|", "\\|")}${login}$`),
        ),
      ]),
      [{ KAFKA_TLS_CERT: "", KAFKA_TLS_KEY: "" }, expect.stringContaining(foreignCertificate)],
    ];
    expect(await Promise.all(attempts.map(([changes]) => examine(changes)))).toEqual(
      attempts.map(([, answer]) => answer),
    );
    await exchangeFiles(new Date(Date.now() - 1000));
    expect(await examine()).toContain(foreignCertificate);
    await exchangeFiles();
    expect(await examine()).toBe(`ok: the cluster of ${named} answers: 1 broker`);
  });

  it("[S11.4] are reached with exchanged files by connections that are made later", async () => {
    const client = kafkaClient(accessOf("boxoffice"));
    const ask = () => client.administer(10_000, (admin) => admin.describeCluster());
    await exchangeFiles(new Date(Date.now() - 1000));
    await expect(ask()).rejects.toThrow(/alert/);
    await exchangeFiles();
    expect((await ask()).brokers).toHaveLength(1);
  });

  it("[S11.12] let each service read and write what it declares, and nothing else", async () => {
    const found = await Promise.all(services.map(tryOut));
    expect(found).toEqual(
      services.map(({ name }) => ({
        name,
        reads: "read",
        readsForeignTopic: "TOPIC_AUTHORIZATION_FAILED",
        readsInForeignGroup: noCoordinator,
        writes: ownedBy(name).length === 0 ? noCoordinator : "written",
        writesForeignTopics: [ownedBy(name).length === 0 ? noCoordinator : "TOPIC_AUTHORIZATION_FAILED"],
        writesAsForeignRelay: noCoordinator,
      })),
    );
  });
});

const foreignCertificate = "it refuses the certificate of this process (ERR_SSL_SSL/TLS_ALERT_";

/** What the client makes of a refusal to name the coordinator of a group or transaction. */
const noCoordinator = "KafkaJSGroupCoordinatorNotFound";

/** With a message there one makes API keys, or admits a ticket twice. */
const worthForging: readonly string[] = [topics.credentialChanged.name, recordFeed.name, topics.scanDecided.name];

async function tryOut({ name, consumes }: (typeof services)[number]) {
  const client = kafkaClient(accessOf(name));
  const own = ownedBy(name);
  const consumed = consumes[0] ?? "";
  const unread = catalogue.map((topic) => topic.name).find((topic) => !consumes.includes(topic)) ?? "";
  const forged = worthForging.filter((topic) => !own.includes(topic));
  const relay = `relay/${own[0] ?? topics.shredRequested.name}`;
  // The client waits long for coordinators that it is not told.
  const [reads, readsInForeignGroup, writes, writesAsForeignRelay, ...forgeries] = await Promise.all([
    read(client, `${name}.${consumed}`, consumed),
    read(client, `other.${consumed}`, consumed),
    write(client, `${relay}/mine`, own[0] ?? topics.shredRequested.name),
    write(client, "relay/foreign/0", forged[0] ?? ""),
    ...forged.map((topic) => write(client, `${relay}/${topic}`, topic)),
  ]);
  const readsForeignTopic = await read(client, `${name}.${consumed}`, unread);
  const writesForeignTopics = [...new Set(forgeries)];
  return { name, reads, readsForeignTopic, readsInForeignGroup, writes, writesForeignTopics, writesAsForeignRelay };
}
