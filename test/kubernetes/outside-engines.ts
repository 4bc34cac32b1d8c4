import { join } from "node:path";
import { engineSettings } from "@tessera/cli/configuration/engine-settings";
import { kafkaAccess } from "@tessera/cli/serve/open-engines";
import { loadServices } from "@tessera/cli/services";
import { listAllowances } from "@tessera/cli/topics/list-allowances";
import { allow } from "@tessera/engines/kafka/acls";
import { readConfig } from "@tessera/kit/config/config";
import { withClient } from "@tessera/kit/pg/administer";
import { roleOf } from "@tessera/kit/pg/provision";
import { type TestAuthority, writeCertificate } from "@tessera/testkit/certificates";
import { quiet } from "@tessera/testkit/engines/kafka-bed";
import { startRedis } from "@tessera/testkit/engines/redis-server";
import { startS3 } from "@tessera/testkit/engines/s3-server";
import { startTlsPostgres } from "@tessera/testkit/engines/tls-postgres";
import { startSecureBrokers } from "../security/secure-brokers.ts";
import { podNetwork } from "./node-network.ts";

/** The engines of a release, which are no pods. Pods reach them at the address of this machine in their network, with TLS. */
export interface OutsideEngines {
  /** Issues the certificates of the engines and of the release. */
  readonly authority: TestAuthority;
  /** As the pods of a service, or the Job of migrations, name the database: with a user of their own. */
  databaseUrl(user: string): string;
  /** The same database for tests. */
  readonly ownDatabaseUrl: string;
  readonly brokers: string;
  /** Of a service, or of the Job of topics. */
  kafkaAccount(name: string): { readonly username: string; readonly password: string };
  readonly redisUrl: string;
  /** Runs a command of Redis, and returns its answer. */
  redis(...words: readonly string[]): Promise<string>;
  readonly s3: {
    readonly endpoint: string;
    readonly bucket: string;
    readonly accessKey: string;
    readonly secretKey: string;
  };
  stop(): Promise<void>;
}

const database = "tessera";
const migrator = "migrate";
const passwordOf = (user: string) => `pw-${user}`;
const { address, range } = podNetwork;

/**
 * Starts PostgreSQL, Kafka, Redis and S3, all with TLS; a broker allows each service what it declares, and no more. The
 * network of the pods must exist.
 */
export async function startOutsideEngines(): Promise<OutsideEngines> {
  const services = await loadServices(["all"]);
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const kafka = await startSecureBrokers([...services.map(({ name }) => name), "topics"], { host: address });
    undo.push(() => kafka.stop());
    const administrator = readConfig(engineSettings, kafka.settingsOf("broker"));
    await allow(
      await listAllowances({ prefix: "tessera.", principalOf: (name) => `User:${name}` }),
      kafkaAccess(administrator, { clientId: "test", log: quiet }),
    );
    const { authority, directory } = kafka;
    const issued = { ...(await authority.issue({ names: [address] })), authority: authority.certificate };
    const tls = await writeCertificate(join(directory, "engines"), issued);
    const postgres = await startTlsPostgres({
      ...issued,
      host: address,
      // A pod has another address.
      admitted: `hostssl all postgres ${address}/32 trust\nhostssl all all ${range} scram-sha-256\n`,
      settings: { max_connections: "1000", shared_buffers: "128MB", jit: "off", max_wal_size: "1GB" },
    });
    undo.push(() => postgres.stop());
    const server = `${address}:${postgres.port}`;
    await makeUsers(
      server,
      services.map(({ name, schema }) => ({ user: name, role: roleOf(schema) })),
    );
    const redis = await startRedis({
      tls,
      flavour: "redis",
      settings: ["--bind", "127.0.0.1", address, "--protected-mode", "no"],
    });
    undo.push(() => redis.stop());
    const s3 = await startS3({ host: address, tls });
    undo.push(() => s3.stop());
    const verified = "sslmode=verify-full&sslrootcert=/etc/tessera/postgres/ca.crt";
    return {
      authority,
      databaseUrl: (user) => `postgresql://${user}:${passwordOf(user)}@${server}/${database}?${verified}`,
      ownDatabaseUrl: `postgresql://postgres@${server}/${database}?sslmode=no-verify`,
      brokers: kafka.engine.brokers,
      kafkaAccount(name) {
        const { KAFKA_SASL_USERNAME: username = "", KAFKA_SASL_PASSWORD: password = "" } = kafka.settingsOf(name);
        return { username, password };
      },
      redisUrl: `rediss://${address}:${redis.tlsPort}`,
      redis: redis.command,
      s3,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Makes the database, and in it the users as an operator does before the first migration. */
async function makeUsers(
  server: string,
  users: readonly { readonly user: string; readonly role: string }[],
): Promise<void> {
  const run = (url: string, statements: readonly string[]) =>
    withClient({ url: `postgresql://${url}?sslmode=no-verify`, purpose: "test" }, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  await run(`postgres@${server}/postgres`, [
    `create role ${migrator} login createrole password '${passwordOf(migrator)}'`,
    `create database ${database} owner ${migrator}`,
  ]);
  await run(
    `${migrator}:${passwordOf(migrator)}@${server}/${database}`,
    users.flatMap(({ user, role }) => [
      `create role ${role} nologin`,
      `create role "${user}" login password '${passwordOf(user)}' in role ${role}`,
    ]),
  );
}
